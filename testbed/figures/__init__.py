"""Figures and verdicts: what a paper claims, what a run shows, and whether they agree."""
