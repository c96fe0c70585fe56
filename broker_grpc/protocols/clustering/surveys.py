"""Surveys by sampling: how many are asked, and what their answers say of all."""

from __future__ import annotations

import math

Z = 1.96  # of a 95 % interval
WORST = 0.25  # p q of an even split


def cochran(margin: float) -> int:
    """n0: the sample of an endless population; 384 for 5 % (Bartlett, Kotrlik, Higgins 2001)."""
    return int(Z * Z * WORST / (margin * margin))


def sample_size(population: int, margin: float) -> int:
    """n = n0 / (1 + n0 / N), rounded up; with a margin of 0 everyone is asked."""
    if population <= 0 or margin <= 0:
        return max(population, 0)
    endless = cochran(margin)
    return min(population, math.ceil(endless / (1 + endless / population)))


def estimate(found: int, answers: int, population: int) -> float:
    """Of all; nobody answered: nobody is known to be one."""
    return population * found / answers if answers else 0.0
