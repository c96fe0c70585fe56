"""What is compared: the configuration of the paper's algorithm, and consistent hashing."""

from __future__ import annotations

CONFIGURED = "DYNATOPS"
HASHED = "consistent hashing"
PATTERN_LETTERS = {"multimodal": "M", "uniform": "U"}  # as figure 10 names them
