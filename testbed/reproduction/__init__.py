"""Reproductions: a paper's points, what they measure, what it claims, and whether the two agree."""
