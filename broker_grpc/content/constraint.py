"""What a conjunction says about one attribute: which values are possible, and what they imply."""

from __future__ import annotations

from typing import Any

from broker_grpc.content.predicates import holds, is_text
from protos.content_messages import Operator, Predicate, Value

_BOUNDS = {Operator.LT, Operator.LE, Operator.GT, Operator.GE}


class Constraint:
    """What the predicates of one filter, or of two together, say about one attribute."""

    __slots__ = (
        "contains", "empty", "high", "high_open", "low", "low_open", "point", "postfixes", "predicates",
        "prefix", "text", "unequal",
    )  # fmt: skip

    def __init__(self, predicates: tuple[Predicate, ...]) -> None:
        self.predicates = predicates
        self.text = is_text(predicates[0].value)
        self.point: Value | None = None  # the only value possible
        self.low: Any = None  # Any: of the same type as every value here, once it is not empty
        self.low_open = False
        self.high: Any = None
        self.high_open = False
        self.prefix = ""
        self.postfixes: tuple[str, ...] = ()
        self.contains: tuple[str, ...] = ()
        self.unequal: tuple[Value, ...] = ()
        self.empty = any(is_text(p.value) != self.text for p in predicates)
        if not self.empty:
            for p in predicates:
                self._add(p)
            self._open_bounds()
            self.empty = self.empty or not self._possible()

    def _add(self, p: Predicate) -> None:
        if p.operator == Operator.EQ:
            self.empty = self.empty or (self.point is not None and self.point != p.value)
            self.point = p.value
        elif p.operator in _BOUNDS:
            self._bound(p.operator, p.value)
        elif p.operator == Operator.NEQ:
            self.unequal += (p.value,)
        elif p.operator != Operator.IS_PRESENT:
            self._affix(p.operator, str(p.value))

    def _bound(self, operator: Operator, value: Value) -> None:
        is_open = operator in (Operator.LT, Operator.GT)
        if operator in (Operator.GT, Operator.GE):
            if self.low is None or value > self.low or (value == self.low and is_open):
                self.low, self.low_open = value, is_open
        elif self.high is None or value < self.high or (value == self.high and is_open):
            self.high, self.high_open = value, is_open

    def _open_bounds(self) -> None:
        """At most 1 and not 1 is less than 1."""
        self.low_open = self.low_open or (self.low is not None and self.low in self.unequal)
        self.high_open = self.high_open or (self.high is not None and self.high in self.unequal)

    def _affix(self, operator: Operator, value: str) -> None:
        if operator == Operator.STR_POSTFIX:
            self.postfixes += (value,)
        elif operator == Operator.STR_CONTAINS:
            self.contains += (value,)
        elif value.startswith(self.prefix):
            self.prefix = value
        else:
            self.empty = self.empty or not self.prefix.startswith(value)

    def _possible(self) -> bool:
        """Whether some value satisfies all predicates; may be wrongly True for strings."""
        if self.low is not None and self.low == self.high and not (self.low_open or self.high_open):
            self.point = self.low if self.point is None else self.point
        if self.point is not None:
            point = self.point
            return all(holds(p, point) for p in self.predicates)
        if self.low is not None and self.high is not None and not self.low < self.high:
            return False
        return not self.prefix or self._prefix_in_range()

    def _prefix_in_range(self) -> bool:
        if self.low is not None and self.low > self.prefix and not str(self.low).startswith(self.prefix):
            return False
        return (
            self.high is None or self.prefix < self.high or (self.prefix == self.high and not self.high_open)
        )

    # ------------------------------------------------------------ implication

    def implies(self, p: Predicate) -> bool:
        """Whether every value allowed here satisfies `p`; may be wrongly False."""
        if is_text(p.value) != self.text:
            return False
        if self.point is not None:
            return holds(p, self.point)
        operator = p.operator
        if operator == Operator.IS_PRESENT:
            return True
        if operator == Operator.EQ:
            return False
        if operator == Operator.NEQ:
            return p.value in self.unequal or self._excludes(p.value)
        if operator in (Operator.LT, Operator.LE):
            return self._below(p.value, operator == Operator.LT)
        if operator in (Operator.GT, Operator.GE):
            return self._above(p.value, operator == Operator.GT)
        return self._has_affix(operator, str(p.value))

    def _below(self, value: Value, strict: bool) -> bool:
        if self.high is not None and (
            self.high < value or (self.high == value and (self.high_open or not strict))
        ):
            return True
        return self.prefix != "" and self.prefix < str(value) and not str(value).startswith(self.prefix)

    def _above(self, value: Value, strict: bool) -> bool:
        if self.low is not None and (
            self.low > value or (self.low == value and (self.low_open or not strict))
        ):
            return True
        return self.prefix != "" and (self.prefix > str(value) or (self.prefix == value and not strict))

    def _excludes(self, value: Value) -> bool:
        return any(not holds(p, value) for p in self.predicates)

    def _has_affix(self, operator: Operator, value: str) -> bool:
        if operator == Operator.STR_PREFIX:
            return self.prefix.startswith(value)
        if operator == Operator.STR_POSTFIX:
            return any(postfix.endswith(value) for postfix in self.postfixes)
        return any(value in known for known in (self.prefix, *self.postfixes, *self.contains))
