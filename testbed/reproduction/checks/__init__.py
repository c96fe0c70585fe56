"""How a sentence of a paper becomes a finding: combinators that every paper's claims are made of.

Each looks at values, says what it saw, and can hold, fail, or find that the values cannot tell (none there,
or one that is not a number). None can answer the same whatever it is given: a band without an end, or a share
of no points, is refused when the check is made.
"""

from testbed.reproduction.checks.number import alike, at_most, factor, growth, near, within
from testbed.reproduction.checks.order import least, order
from testbed.reproduction.checks.paired import below
from testbed.reproduction.checks.shape import shape
from testbed.reproduction.checks.together import together

__all__ = [
    "alike",
    "at_most",
    "below",
    "factor",
    "growth",
    "least",
    "near",
    "order",
    "shape",
    "together",
    "within",
]
