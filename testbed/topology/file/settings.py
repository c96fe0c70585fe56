"""Values given on the command line, over those of the file: `--set clients.sub.spread=4`.

The last step of the order of precedence: built-in default < `defaults` < group < item < command line.
"""

from __future__ import annotations

import re
from typing import Any

from testbed.errors import InputError
from testbed.topology.file.document import Document, Path_, parse_document

_PLACE = re.compile(r"[^\s.=]+(\.[^\s.=]+)*")
EXAMPLE = "write it like --set clients.sub.spread=4"


def apply_setting(document: Document, setting: str) -> None:
    """Put one PLACE=VALUE into the document. Sections that are not there are made; the schema checks them.

    A number in the place counts from 0 through a list: phases.2.run_for=10s.
    """
    place, equals, text = setting.partition("=")
    if not equals or not _PLACE.fullmatch(place):
        raise InputError(f"--set {setting!r} is no PLACE=VALUE", hint=EXAMPLE)
    value = _value(setting, text, len(place) + 2)
    path: Path_ = ()
    at: Any = document.data
    *sections, last = place.split(".")
    for section in sections:
        step = _step(at, section, setting)
        path = (*path, step)
        if isinstance(at, dict) and at.get(section) is None:
            at[section] = {}
            document.given[path] = setting
        at = at[step]
        document.places.setdefault(path, (1, 1))
    step = _step(at, last, setting)
    at[step] = value
    document.places.setdefault((*path, step), (1, 1))
    document.given[*path, step] = setting


def _value(setting: str, text: str, column: int) -> Any:
    """The text as YAML: 4, true, 10s, [1, 2], {name: pop}."""
    try:
        return parse_document(f"value: {text}", "").data["value"]
    except InputError as error:
        reason = str(getattr(error, "message", error))
        raise InputError(f"--set {setting!r}: {reason} (column {column})", hint=EXAMPLE) from None


def _step(at: Any, name: str, setting: str) -> str | int:
    if isinstance(at, dict):
        return name
    if isinstance(at, list) and name.isdigit() and int(name) < len(at):
        return int(name)
    there = f"a list of {len(at)}, counted from 0" if isinstance(at, list) else "a plain value"
    raise InputError(f"--set {setting!r}: there is no {name!r} in it", hint=f"the file has {there} there")
