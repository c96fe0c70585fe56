"""msgspec's complaints about single values in the words of the topology file."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from testbed.topology.file.quantities import describe_type

_EXPECTED = {"int": "a whole number", "str": "a text", "bool": "true or false", "float": "a number"}
_LIMITS = {">=": "at least", ">": "more than", "<=": "at most", "<": "less than"}


def wrong_value(error: msgspec.ValidationError, value: Any) -> str:
    """What follows the name of the value in a sentence."""
    complaint = str(error).partition(" - at ")[0]
    wanted = re.match(r"Expected `(\w+)`(?:, got|$)", complaint)
    if wanted and wanted[1] in _EXPECTED:
        given = value if isinstance(value, int | float) else describe_type(value)
        return f"must be {_EXPECTED[wanted[1]]}, not {given}"
    limit = re.fullmatch(r"Expected `\w+` (>=|>|<=|<) (\S+)", complaint)
    return f"must be {_LIMITS[limit[1]]} {limit[2]}, not {value}" if limit else f"cannot be {value!r}"
