"""Relations between two filters, decided attribute by attribute.

`intersects` never says no to filters that some publication matches both of, and `covers` never says
yes unless every publication that matches the second matches the first. Both are exact for numbers;
for strings they are conservative: combinations such as a range with a postfix may give a needless yes
from `intersects` or a needless no from `covers`, which costs a message and never a delivery.

Extra attributes of a publication are ignored by matching, so an attribute that only one of two
filters mentions does not keep them apart.
"""

from __future__ import annotations

from typing import Literal

from broker_grpc.content.constraint import Constraint
from broker_grpc.content.filters import Filter
from broker_grpc.content.predicates import holds

Covering = Literal["off", "lazy", "active"]  # whether brokers make use of it, and when


def intersects(one: Filter, other: Filter) -> bool:
    """Whether a publication may match both; never wrongly False."""
    mine, theirs = one.constraints, other.constraints
    for name, constraint in mine.items():
        if constraint.empty:
            return False
        opposite = theirs.get(name)
        if opposite is not None and _apart(constraint, opposite):
            return False
    return not any(constraint.empty for constraint in theirs.values())


def _apart(one: Constraint, other: Constraint) -> bool:
    if one.point is not None:
        point = one.point
        return not all(holds(p, point) for p in other.predicates)
    if other.point is not None:
        point = other.point
        return not all(holds(p, point) for p in one.predicates)
    return Constraint(one.predicates + other.predicates).empty


def covers(wide: Filter, narrow: Filter) -> bool:
    """Whether all that matches `narrow` matches `wide`; never wrongly True."""
    given = narrow.constraints
    for name, wanted in wide.constraints.items():
        constraint = given.get(name)
        if constraint is None or constraint.empty:
            return False
        for p in wanted.predicates:
            if not constraint.implies(p):
                return False
    return True
