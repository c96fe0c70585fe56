"""Grids of runs: parameters times seeds, each point its own process and folder, as Spark tasks."""
