"""`count` and `for_each`: one mapping of the file into many."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

from pydantic import ValidationError

from testbed.topology.file.schema.base import id_problem
from testbed.topology.file.schema_errors import explain_one
from testbed.topology.resolve.report import Report

_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")

Variables = dict[str, Any]
Steps = tuple[str | int, ...]
MAX_PROCESSES = 100_000


def variables_of(name: str, raw: dict[str, Any]) -> list[Variables] | None:
    """The variables of each item of a group; None when it is a single process."""
    count, for_each = raw.get("count"), raw.get("for_each")
    if count is None and for_each is None:
        return None
    if group_size(raw) > MAX_PROCESSES:
        return []  # told by `check_size`
    rows = [{}] if for_each is None else _rows(for_each)
    repeated = [dict(row) for row in rows for _ in range(count or 1)]
    for i, row in enumerate(repeated, start=1):
        row.update(i=i, group=name)
    return repeated


def group_size(raw: dict[str, Any]) -> int:
    """How many processes a group has, without making them."""
    for_each = raw.get("for_each")
    size = raw.get("count") or 1
    if isinstance(for_each, list):
        return int(size * len(for_each))
    return int(size * math.prod(len(values) for values in (for_each or {}).values()))


def check_size(raw: dict[str, Any], path: Steps, report: Report) -> None:
    size = group_size(raw)
    if size > MAX_PROCESSES:
        report.add(path, f"the group has {size} processes", f"at most {MAX_PROCESSES}", key=True)


def _rows(for_each: Any) -> list[Variables]:
    if isinstance(for_each, list):
        return [dict(row) for row in for_each]
    names = list(for_each)
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*for_each.values())]


def item_id(name: str, raw: dict[str, Any], variables: Variables | None) -> str:
    """The id pattern filled in, or the group's name with what tells the items apart."""
    pattern = raw.get("id") or ""
    if variables is None:
        return pattern or name
    if pattern:
        return str(fill(pattern, variables))
    own = [str(value) for key, value in variables.items() if key not in ("i", "group") and _fits_id(value)]
    if not own:
        return f"{name}{variables['i']}"
    parts = [name, *own] if not raw.get("count") else [name, *own, str(variables["i"])]
    return "-".join(parts)


def _fits_id(value: Any) -> bool:
    """Whether the value can be part of an id; `60/min` cannot."""
    return id_problem(f"x{value}") is None


def fill(value: Any, variables: Variables) -> Any:
    """The value with every known {variable} of its texts replaced; other braces stay as they are.

    A text that is nothing but one variable becomes the variable's value with its type.
    """
    if isinstance(value, str):
        whole = _VARIABLE.fullmatch(value)
        if whole and whole[1] in variables:
            return variables[whole[1]]
        return _VARIABLE.sub(lambda m: str(variables.get(m[1], m[0])), value)
    if isinstance(value, dict):
        return {key: fill(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [fill(item, variables) for item in value]
    return value


def merged(*layers: dict[str, Any] | None) -> dict[str, Any]:
    """Mappings laid over each other, later ones winning; nested mappings are merged too."""
    out: dict[str, Any] = {}
    for layer in layers:
        for key, value in (layer or {}).items():
            old = out.get(key)
            out[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return out


def filled_group(
    kind: Any, raw: dict[str, Any], variables: dict[str, Any], path: Steps, report: Report
) -> Any:
    """The group's mapping with its variables filled in, checked again; None when that is wrong."""
    try:
        return kind.model_validate(fill(raw, variables))
    except ValidationError as error:
        for one in error.errors():
            message, hint = explain_one(one, kind)
            report.add((*path, *one["loc"]), message, hint)
        return None
