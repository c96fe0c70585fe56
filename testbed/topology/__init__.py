"""Topology files: what runs, where, when and over which network."""
