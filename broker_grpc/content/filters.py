"""A filter is a conjunction of predicates; a publication is a mapping from attribute to value.

`Filter.checked` refuses what is not well-formed, so that everything behind it (index, routing) may
trust a filter. Filters with the same predicates, in any order, have the same `key`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from weakref import WeakValueDictionary

from broker_grpc.content.constraint import Constraint
from broker_grpc.content.predicates import MAX_PREDICATES, TESTS, check_class, check_predicate, is_text
from broker_grpc.errors import LimitExceeded
from protos.content_messages import Operator, Predicate, Value

Test = tuple[str, Callable[[Value, Value], object], Value]
Key = tuple[tuple[str, int, bool, Value], ...]
Pair = tuple[str, Value]


class Filter:
    """An immutable conjunction of predicates.

    `equalities` holds (attribute, value) wherever only one value is possible: an equality predicate,
    or a closed range of one value.
    """

    __slots__ = ("__weakref__", "constraints", "equalities", "key", "predicates", "rests", "tests")

    def __init__(self, predicates: Sequence[Predicate]) -> None:
        """For predicates already checked; use `Filter.checked` for what comes from outside."""
        self.predicates = tuple(predicates)
        self.key = key_of(self.predicates)
        self.tests: tuple[Test, ...] = tuple(
            (p.attribute, TESTS[p.operator], p.value) for p in self.predicates
        )
        self.rests: dict[Pair | None, tuple[Test, ...]] = {}  # for the index: tests left besides a pivot
        self.constraints = _constraints_of(self.predicates)
        self.equalities: tuple[Pair, ...] = tuple(
            (name, c.point) for name, c in self.constraints.items() if c.point is not None
        )

    @classmethod
    def checked(cls, predicates: Sequence[Predicate], limit: int = MAX_PREDICATES) -> Filter:
        """Raises LanguageError or LimitExceeded."""
        _check(predicates, limit)
        return cls(predicates)

    @classmethod
    def shared(cls, predicates: Sequence[Predicate], limit: int = MAX_PREDICATES) -> Filter:
        """As `checked`; equal filters that are in use are one object (its predicates in any order)."""
        _check(predicates, limit)
        key = key_of(predicates)
        known = _SHARED.get(key)
        if known is None:
            known = _SHARED[key] = cls(predicates)
        return known

    def matches(self, attributes: Mapping[str, Value]) -> bool:
        """Whether a publication with these attributes satisfies every predicate."""
        try:
            for attribute, test, operand in self.tests:
                value = attributes.get(attribute)
                if value is None or not test(value, operand):
                    return False
        except TypeError:
            return False
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Filter) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        from broker_grpc.content.language import format_filter

        return f"Filter({format_filter(self.predicates)})"


def matches(filter_: Filter, attributes: Mapping[str, Value]) -> bool:
    return filter_.matches(attributes)


def _check(predicates: Sequence[Predicate], limit: int) -> None:
    if len(predicates) > limit:
        raise LimitExceeded(f"{len(predicates)} predicates, at most {limit} are accepted")
    for predicate in predicates:
        check_predicate(predicate)
    check_class(predicates)


# A tree of brokers in one process holds the same subscription at every broker.
_SHARED: WeakValueDictionary[Key, Filter] = WeakValueDictionary()


def _constraints_of(predicates: Sequence[Predicate]) -> dict[str, Constraint]:
    grouped: dict[str, tuple[Predicate, ...]] = {}
    for p in predicates:
        grouped[p.attribute] = (*grouped.get(p.attribute, ()), p)
    return {name: Constraint(group) for name, group in grouped.items()}


def key_of(predicates: Sequence[Predicate]) -> Key:
    """Equal for conjunctions with the same predicates; the operand of isPresent only fixes the type."""
    entries = set()
    for p in predicates:
        text = is_text(p.value)
        value = p.value
        if p.operator == Operator.IS_PRESENT:
            value = "" if text else 0
        entries.add((p.attribute, int(p.operator), text, value))
    return tuple(sorted(entries))
