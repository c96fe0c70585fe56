"""PADRES' text form of filters and publications.

    [class,eq,'STOCK'],[symbol,eq,'YHOO'],[price,>,10],[price,<=,20]        filter
    [class,'STOCK'],[symbol,'YHOO'],[price,18.5]                            publication

A string is quoted ('' inside stands for one quote) or a bare word; a number is an integer or a float,
as it is written. An attribute's name is quoted where it is no bare word. Errors carry their position.

Whatever a broker accepts, from text or from a program, is written such that `reread_filter` and
`reread_publication` give the same back: the checks of a run read it out of the log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from broker_grpc.content.filters import Filter
from broker_grpc.content.predicates import (
    MAX_PREDICATES,
    MAX_TEXT,
    check_attributes,
    check_predicate,
    is_text,
)
from broker_grpc.errors import LanguageError, LimitExceeded
from protos.content_messages import Operator, Predicate, Value

MAX_LENGTH = 64 * 1024

# Operator, and whether it is for text only (True), numbers only (False) or both (None).
OPERATORS: dict[str, tuple[Operator, bool | None]] = {
    "eq": (Operator.EQ, None),
    "=": (Operator.EQ, None),
    "neq": (Operator.NEQ, None),
    "<>": (Operator.NEQ, None),
    "<": (Operator.LT, False),
    "<=": (Operator.LE, False),
    ">": (Operator.GT, False),
    ">=": (Operator.GE, False),
    "str-lt": (Operator.LT, True),
    "str-le": (Operator.LE, True),
    "str-gt": (Operator.GT, True),
    "str-ge": (Operator.GE, True),
    "str-prefix": (Operator.STR_PREFIX, True),
    "str-postfix": (Operator.STR_POSTFIX, True),
    "str-contains": (Operator.STR_CONTAINS, True),
    "isPresent": (Operator.IS_PRESENT, None),
}
_TEXT_NAMES = {
    o: name for name, (o, text) in OPERATORS.items() if text is not False and name not in ("=", "<>")
}
_NUMBER_NAMES = {
    o: name for name, (o, text) in OPERATORS.items() if text is not True and name not in ("eq", "neq")
}

_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[^\s,\[\]'\"]+")
_WORD = re.compile(r"[^,\[\]'\"]+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_INTEGER = re.compile(r"[+-]?\d+")


def parse_filter(text: str, limit: int = MAX_PREDICATES) -> Filter:
    """Raises LanguageError (with the position) or LimitExceeded."""
    _check_length(text)
    return _filter(text, limit)


def reread_filter(text: str) -> Filter:
    """A filter that was accepted once, whatever the limits were then. Raises LanguageError."""
    return _filter(text, len(text))


def _filter(text: str, limit: int) -> Filter:
    predicates = []
    for at, fields in _groups(text, limit):
        if len(fields) != 3:
            raise _error(
                text, at, f"a predicate is [attribute,operator,value], this has {len(fields)} fields"
            )
        predicates.append(_predicate(text, at, fields))
    return Filter.checked(predicates, limit)


def parse_publication(text: str) -> dict[str, Value]:
    """Raises LanguageError (with the position) or LimitExceeded."""
    _check_length(text)
    return reread_publication(text)


def reread_publication(text: str) -> dict[str, Value]:
    """A publication that was accepted once, however long its text. Raises as `parse_publication` does."""
    attributes: dict[str, Value] = {}
    for at, fields in _groups(text, MAX_PREDICATES * 2):
        if len(fields) != 2:
            raise _error(text, at, f"an attribute is [name,value], this has {len(fields)} fields")
        name, value = _attribute(text, fields[0]), _value(text, fields[1])
        if name in attributes:
            raise _error(text, at, f"attribute {name!r} appears twice")
        attributes[name] = value
    check_attributes(attributes)
    return attributes


def format_filter(predicates: Sequence[Predicate]) -> str:
    return ",".join(
        f"[{_format_name(p.attribute)},{_operator_name(p)},{format_value(p.value)}]" for p in predicates
    )


def _operator_name(predicate: Predicate) -> str:
    return (_TEXT_NAMES if is_text(predicate.value) else _NUMBER_NAMES)[predicate.operator]


def format_publication(attributes: Mapping[str, Value]) -> str:
    return ",".join(f"[{_format_name(name)},{format_value(value)}]" for name, value in attributes.items())


@lru_cache(maxsize=4096)
def _format_name(name: str) -> str:
    """Names are few and come again with every publication."""
    return name if _NAME.fullmatch(name) else format_value(name)


def format_value(value: Value) -> str:
    if value.__class__ is str:
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


# ---------------------------------------------------------------- parsing

Field = tuple[int, str, bool]  # position, text, was quoted


def _check_length(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise LimitExceeded(f"{len(text)} characters, at most {MAX_LENGTH} are accepted")


def _groups(text: str, limit: int) -> list[tuple[int, list[Field]]]:
    """The bracketed groups with their position and fields."""
    groups: list[tuple[int, list[Field]]] = []
    at = _skip(text, 0)
    while True:
        if at >= len(text) or text[at] != "[":
            raise _error(text, at, "'[' expected")
        start = at
        fields, at = _fields(text, at + 1)
        groups.append((start, fields))
        if len(groups) > limit:
            raise LimitExceeded(f"more than {limit} groups in brackets")
        at = _skip(text, at)
        if at == len(text):
            return groups
        if text[at] != ",":
            raise _error(text, at, "',' or the end expected")
        at = _skip(text, at + 1)


def _fields(text: str, at: int) -> tuple[list[Field], int]:
    """Fields up to the closing bracket, and the position behind it."""
    fields: list[Field] = []
    while True:
        field, at = _field(text, _skip(text, at))
        fields.append(field)
        at = _skip(text, at)
        if at >= len(text):
            raise _error(text, at, "']' expected, the text ends here")
        if text[at] == "]":
            return fields, at + 1
        if text[at] != ",":
            raise _error(text, at, "',' or ']' expected")
        at += 1


def _field(text: str, at: int) -> tuple[Field, int]:
    if at < len(text) and text[at] in "'\"":
        return _quoted(text, at)
    found = _WORD.match(text, at)
    if not found or not found.group().strip():
        raise _error(text, at, "a name, operator or value expected")
    return (at, found.group().rstrip(), False), found.end()


def _quoted(text: str, start: int) -> tuple[Field, int]:
    quote, at = text[start], start + 1
    parts: list[str] = []
    while True:
        end = text.find(quote, at)
        if end < 0:
            raise _error(text, start, "this string is never closed")
        parts.append(text[at:end])
        if text[end + 1 : end + 2] != quote:
            return (start, "".join(parts), True), end + 1
        parts.append(quote)
        at = end + 2


def _predicate(text: str, at: int, fields: list[Field]) -> Predicate:
    name = _attribute(text, fields[0])
    operator, for_text = _operator(text, fields[1])
    value = _value(text, fields[2])
    if for_text is not None and is_text(value) != for_text:
        wanted = "a string" if for_text else "a number (strings have str-lt, str-le, str-gt, str-ge)"
        raise _error(text, fields[2][0], f"operator {fields[1][1]} wants {wanted}, not {format_value(value)}")
    predicate = Predicate(name, operator, value)
    try:
        check_predicate(predicate)
    except LanguageError as error:
        raise _error(text, at, str(error)) from None
    return predicate


def _attribute(text: str, field: Field) -> str:
    at, name, quoted = field
    if not quoted and not _NAME.fullmatch(name):
        raise _error(text, at, f"{name!r} is not an attribute name")
    if len(name) > MAX_TEXT:
        raise LimitExceeded(f"an attribute name is longer than {MAX_TEXT} characters")
    return name


def _operator(text: str, field: Field) -> tuple[Operator, bool | None]:
    at, name, _ = field
    if name not in OPERATORS:
        raise _error(text, at, f"unknown operator {name!r}; known: {' '.join(OPERATORS)}")
    return OPERATORS[name]


def _value(text: str, field: Field) -> Value:
    at, word, quoted = field
    if quoted:
        return word
    if _INTEGER.fullmatch(word):
        return _integer(text, at, word)
    if _NUMBER.fullmatch(word):
        return _real(text, at, word)
    if word.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise _error(text, at, f"{word} is not a number; quote it if it is a string")
    return word


def _integer(text: str, at: int, word: str) -> int:
    if len(word) > 20:
        raise _error(text, at, "an integer of more than 64 bits")
    return int(word)


def _real(text: str, at: int, word: str) -> float:
    value = float(word)
    if value in (float("inf"), float("-inf")):
        raise _error(text, at, f"{word} is too large")
    return value


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _error(text: str, at: int, message: str) -> LanguageError:
    around = text[max(0, at - 10) : at + 20]
    return LanguageError(f"column {at + 1}: {message} (near {around!r})")
