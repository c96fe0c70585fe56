"""Values with units: durations, rates, bandwidths, sizes, fractions.

A value is a text with its unit ("20ms", "10 Mbit/s", "60/min", "10%") or a number in the declared default
unit. Each kind below says its units once; errors and the generated documentation read them from there.
Parsed values are integers in the smallest unit (microseconds, bit/s, bytes), rates are per second,
fractions 0 to 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

_FORM = re.compile(
    r"\s*([-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?)\s*([A-Za-zµμ%/]*)\s*$"
)
_TEMPLATE = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\}")


@dataclass(frozen=True, eq=False)  # compared and hashed as itself: annotations must be hashable
class Kind:
    """A physical kind: its units as factors of the smallest one, and what a bare number means."""

    name: str
    units: dict[str, Decimal]
    default_unit: str
    example: str
    whole: bool = True  # rounded to an integer
    maximum: Decimal | None = None

    def listing(self) -> str:
        return ", ".join(unit for unit in self.units if unit)


def _kind(name: str, units: dict[str, str], default: str, example: str, **more: Any) -> Kind:
    return Kind(name, {unit: Decimal(factor) for unit, factor in units.items()}, default, example, **more)


YEAR_US = Decimal(365 * 24 * 3600 * 1_000_000)
DURATION = _kind(
    "duration",
    {"us": "1", "µs": "1", "ms": "1000", "s": "1000000", "min": "60000000", "h": "3600000000"},
    "s",
    "20ms, 1.5s, 2min",
    maximum=YEAR_US,
)
LATENCY = Kind("latency", DURATION.units, "ms", "20ms, 500us", maximum=Decimal(60_000_000))
BANDWIDTH = _kind(
    "bandwidth",
    {
        **{unit: "1" for unit in ("bit/s", "bps")},
        **{unit: "1000" for unit in ("kbit/s", "Kbit/s", "kbps", "Kbps", "kbit")},
        **{unit: "1000000" for unit in ("Mbit/s", "Mbps", "Mbit")},
        **{unit: "1000000000" for unit in ("Gbit/s", "Gbps", "Gbit")},
    },
    "Mbit/s",
    "10 Mbit/s, 1 Gbit/s",
    maximum=Decimal(10) ** 12,
)
SIZE = _kind(
    "size",
    {
        "B": "1",
        "kB": "1000",
        "KB": "1000",
        "MB": "1000000",
        "GB": "1000000000",
        "KiB": "1024",
        "MiB": "1048576",
    },
    "B",
    "100B, 64kB",
    maximum=Decimal(10) ** 12,
)
RATE = Kind(
    "rate",
    {"/s": Decimal(1), "/min": Decimal(1) / 60, "/h": Decimal(1) / 3600},
    "/s",
    "60/min, 10/s",
    whole=False,
    maximum=Decimal(1_000_000),
)
FRACTION = _kind("fraction", {"%": "0.01", "": "1"}, "", "10%, 0.1", whole=False, maximum=Decimal(1))


class BadQuantity(ValueError):
    """The text is no value of that kind."""


def parse(value: Any, kind: Kind) -> int | float:
    """The value in the kind's smallest unit; raises BadQuantity with what would be right."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise BadQuantity(f"a {kind.name} is needed, like {kind.example}, not {describe_type(value)}")
    match = _FORM.match(str(value))
    if match is None:
        raise BadQuantity(f"{str(value)[:40]!r} is no {kind.name}; write it like {kind.example}")
    number, unit = Decimal(match[1]), match[2] or kind.default_unit
    if unit not in kind.units:
        raise BadQuantity(
            f"unknown unit {unit!r} of a {kind.name}; known: {kind.listing()} (like {kind.example})"
        )
    if number < 0:
        raise BadQuantity(f"a {kind.name} cannot be negative ({value}); write 0 or more")
    amount = number * kind.units[unit]
    if kind.maximum is not None and amount > kind.maximum:
        raise BadQuantity(f"{value} is too much for a {kind.name}; at most {maximum_text(kind)}")
    if kind.whole:
        return int(amount.to_integral_value())
    return float(amount)


def maximum_text(kind: Kind) -> str:
    assert kind.maximum is not None
    unit = kind.default_unit
    return f"{(kind.maximum / kind.units[unit]).normalize():f}{unit}"


def describe_type(value: Any) -> str:
    names = {bool: "true/false", dict: "a mapping", list: "a list", type(None): "nothing", str: "a text"}
    return names.get(type(value), "a number")


def is_template(value: Any) -> bool:
    return isinstance(value, str) and bool(_TEMPLATE.search(value))


def _validator(kind: Kind) -> BeforeValidator:
    def check(value: Any, info: ValidationInfo) -> Any:
        if is_template(value) and info.context and info.context.get("templates"):
            return 1  # stands in: the value is filled in and checked for every item of the group
        try:
            return parse(value, kind)
        except BadQuantity as error:
            raise PydanticCustomError("quantity", "{text}", {"text": str(error)}) from None

    return BeforeValidator(check)


def _schema(kind: Kind) -> WithJsonSchema:
    unit = kind.default_unit or "0 to 1"
    text = {"type": "string", "description": f"{kind.name} with unit, e.g. {kind.example}"}
    return WithJsonSchema(
        {"anyOf": [text, {"type": "number", "minimum": 0}], "title": f"{kind.name} (bare number: {unit})"}
    )


Duration = Annotated[int, _validator(DURATION), _schema(DURATION), DURATION]
Latency = Annotated[int, _validator(LATENCY), _schema(LATENCY), LATENCY]
Bandwidth = Annotated[int, _validator(BANDWIDTH), _schema(BANDWIDTH), BANDWIDTH]
Size = Annotated[int, _validator(SIZE), _schema(SIZE), SIZE]
Rate = Annotated[float, _validator(RATE), _schema(RATE), RATE]
Fraction = Annotated[float, _validator(FRACTION), _schema(FRACTION), FRACTION]


def given(default: Any) -> Any:
    """A default written as a file would write it; the field's own validator reads it."""
    return default


@dataclass(frozen=True)
class Range:
    """Latencies drawn uniformly between two values, both included, in microseconds."""

    low: int
    high: int


def _range(value: Any) -> Any:
    if isinstance(value, Range):
        return value
    ends = value if isinstance(value, list) else [value, value]
    try:
        if len(ends) != 2:
            raise BadQuantity("a latency range has two ends, like [5ms, 20ms]")
        low, high = (int(parse(end, LATENCY)) for end in ends)
        if low > high:
            raise BadQuantity(
                f"the range {ends[0]} to {ends[1]} is upside down; the smaller latency comes first"
            )
    except BadQuantity as error:
        raise PydanticCustomError("quantity", "{text}", {"text": str(error)}) from None
    return Range(low, high)


_RANGE = Kind("latency or latency range", DURATION.units, "ms", "5ms or [5ms, 20ms]")
_END = {"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0}]}
LatencyRange = Annotated[
    Range,
    BeforeValidator(_range),
    WithJsonSchema(
        {
            "anyOf": [*_END["anyOf"], {"type": "array", "items": _END, "minItems": 2, "maxItems": 2}],
            "title": "latency or range, drawn uniformly per link (bare number: ms)",
        }
    ),
    _RANGE,
]


def show_us(us: float) -> str:
    """A duration for people: 20 ms, 1.5 s."""
    for factor, unit in ((60_000_000, "min"), (1_000_000, "s"), (1000, "ms")):
        if us >= factor and (unit != "min" or us % factor == 0):
            return f"{us / factor:.6g} {unit}"
    return f"{us:.6g} us" if us else "0"
