"""One predicate: what it tests, and what is accepted as predicate or publication."""

from __future__ import annotations

import operator as py_operator
from collections.abc import Callable, Mapping, Sequence
from math import isfinite

from broker_grpc.errors import LanguageError, LimitExceeded
from protos.content_messages import Operator, Predicate, Value

MAX_PREDICATES = 64
MAX_ATTRIBUTES = 128
MAX_TEXT = 4096
MAX_INTEGER = 2**63 - 1

STRING_ONLY = frozenset((Operator.STR_PREFIX, Operator.STR_POSTFIX, Operator.STR_CONTAINS))


def is_text(value: Value) -> bool:
    return value.__class__ is str


def _not_equal(value: Value, operand: Value) -> bool:
    return (value.__class__ is str) == (operand.__class__ is str) and value != operand


def _is_present(value: Value, operand: Value) -> bool:
    return (value.__class__ is str) == (operand.__class__ is str)


def _contains(value: Value, operand: Value) -> bool:
    return operand in value  # type: ignore[operator]  # a number raises TypeError: no match


# A test on the wrong type is False or raises TypeError; both mean "does not match".
TESTS: dict[Operator, Callable[[Value, Value], object]] = {
    Operator.EQ: py_operator.eq,
    Operator.NEQ: _not_equal,
    Operator.LT: py_operator.lt,
    Operator.LE: py_operator.le,
    Operator.GT: py_operator.gt,
    Operator.GE: py_operator.ge,
    Operator.STR_PREFIX: str.startswith,  # type: ignore[dict-item]
    Operator.STR_POSTFIX: str.endswith,  # type: ignore[dict-item]
    Operator.STR_CONTAINS: _contains,
    Operator.IS_PRESENT: _is_present,
}


def holds(predicate: Predicate, value: Value) -> bool:
    """Whether a value of the predicate's attribute satisfies it."""
    try:
        return bool(TESTS[predicate.operator](value, predicate.value))
    except TypeError:
        return False


# ---------------------------------------------------------------- checks


def check_value(attribute: str, value: object) -> None:
    if value.__class__ is str:
        if len(value) > MAX_TEXT:
            raise LimitExceeded(f"the text of attribute {attribute!r} is longer than {MAX_TEXT} characters")
        _check_unicode(value)
    elif value.__class__ is float:
        if not isfinite(value):
            raise LanguageError(f"{value} as value of {attribute!r}: numbers must be finite")
    elif value.__class__ is int:
        if not -MAX_INTEGER - 1 <= value <= MAX_INTEGER:
            raise LanguageError(f"{value} as value of {attribute!r} does not fit in 64 bits")
    else:
        raise LanguageError(f"{value!r} as value of {attribute!r} is neither a string nor a number")


def check_attribute(name: object) -> None:
    if not isinstance(name, str) or not name:
        raise LanguageError(f"{name!r} is not an attribute name")
    if len(name) > MAX_TEXT:
        raise LimitExceeded(f"an attribute name is longer than {MAX_TEXT} characters")
    _check_unicode(name)


def _check_unicode(text: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise LanguageError(f"{text!r} is not Unicode text: half of a surrogate pair") from None


def check_predicate(predicate: Predicate) -> None:
    check_attribute(predicate.attribute)
    if predicate.operator not in TESTS:
        known = ", ".join(o.name for o in TESTS)
        raise LanguageError(
            f"unknown operator {predicate.operator!r} on {predicate.attribute!r}; known: {known}"
        )
    check_value(predicate.attribute, predicate.value)
    if predicate.operator in STRING_ONLY and not is_text(predicate.value):
        raise LanguageError(
            f"{predicate.operator.name} on {predicate.attribute!r} wants a string, not {predicate.value!r}"
        )


def check_class(predicates: Sequence[Predicate]) -> None:
    """`class` with `eq` and a string is mandatory, but for topic-based use: one equality predicate."""
    if len(predicates) == 1 and predicates[0].operator == Operator.EQ:
        return
    for p in predicates:
        if p.attribute == "class" and p.operator == Operator.EQ and is_text(p.value):
            return
    raise LanguageError("a filter needs [class,eq,'...'], or is one equality predicate (a topic)")


def check_attributes(attributes: Mapping[str, Value]) -> None:
    """Whether a publication is well-formed; raises LanguageError or LimitExceeded."""
    if not attributes:
        raise LanguageError("a publication needs at least one attribute")
    if len(attributes) > MAX_ATTRIBUTES:
        raise LimitExceeded(f"{len(attributes)} attributes, at most {MAX_ATTRIBUTES} are accepted")
    if len(attributes) > 1 and attributes.get("class").__class__ is not str:
        raise LanguageError("a publication needs [class,'...'], or is one attribute (a topic)")
    for name, value in attributes.items():
        # Every publication comes through here twice: what is plainly right is not worth two calls.
        if name.__class__ is not str or not 0 < len(name) <= MAX_TEXT or not name.isascii():
            check_attribute(name)
        if value.__class__ is not float or not isfinite(value):
            check_value(name, value)
