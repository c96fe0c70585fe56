"""A small made-up run folder, byte for byte the kind that a deployment leaves."""
