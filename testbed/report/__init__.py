"""The HTML pages: one per run, one per paper, one index. Self-contained, offline, readable anywhere."""
