"""Reproduces the evaluation of topic clustering (section 5 of the paper)."""
