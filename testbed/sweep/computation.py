"""A computation as a sweep's point: a function by its name, and arguments that a file can hold.

The function is `function(report, **arguments)` at the top of a module and returns tables by name. What it
says to `report` is in the point's log. The tables appear all at once, beside the computation that made them.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import math
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pandas

from testbed.errors import InputError

TABLES = "tables"  # folder of a point
FILE = "computation.json"
Report = Callable[[str], None]
Function = Callable[..., Mapping[str, pandas.DataFrame]]


class Computation(msgspec.Struct, frozen=True):
    """computation.json"""

    function: str  # module:function
    arguments: dict[str, Any]
    code: str  # hash of the text that computes: a changed algorithm never meets the results of the old one


def computation(function: str, arguments: dict[str, Any], sources: Iterable[str] = ()) -> Computation:
    """Checked. `sources`: modules and packages, beside the function's module, that the result hangs on."""
    find(function)
    check_plain(arguments, function)
    return Computation(function, arguments, code_of([function.partition(":")[0], *sources]))


def find(function: str) -> Function:
    module, _, name = function.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        hint = "module:function, with a function at the top of a module"
        raise InputError(f"no function {function!r}: {error}", hint=hint) from None
    made: Function = found
    return made


def check_plain(value: Any, where: str) -> None:
    """A file must give back the very same value: no sets, no tuples, no keys but texts, no NaN."""
    if isinstance(value, dict):
        for key, part in value.items():
            if not isinstance(key, str):
                raise _refused(where, f"a key of type {type(key).__name__}")
            check_plain(part, f"{where}, {key}")
    elif isinstance(value, list):
        for at, part in enumerate(value):
            check_plain(part, f"{where}, number {at + 1}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise _refused(where, str(value))
    elif value is not None and not isinstance(value, str | int | float):
        raise _refused(where, f"a value of type {type(value).__name__}")


def _refused(where: str, what: str) -> InputError:
    return InputError(
        f"{where}: {what} cannot be an argument of a computation",
        hint="texts, finite numbers, true and false, None, lists, and mappings with texts for keys",
    )


def code_of(names: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for name in names:
        for file in _files(name):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _files(name: str) -> list[Path]:
    """A module's file, or all modules of a package."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise InputError(f"no module {name!r} that a computation could hang on")
    origin = Path(spec.origin)
    return sorted(origin.parent.rglob("*.py")) if origin.name == "__init__.py" else [origin]


def compute(wanted: Computation, folder: Path, report: Report) -> str:
    """Makes FOLDER/tables; returns its name."""
    made = find(wanted.function)(report, **wanted.arguments)
    scratch, target = folder / f"{TABLES}.new", folder / TABLES
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    for name, table in made.items():
        table.to_parquet(scratch / f"{name}.parquet", index=False)
    (scratch / FILE).write_bytes(msgspec.json.encode(wanted))
    shutil.rmtree(target, ignore_errors=True)
    scratch.rename(target)
    return TABLES


def read_computation(folder: Path) -> Computation:
    """Raises OSError or msgspec.DecodeError."""
    return msgspec.json.decode((folder / FILE).read_bytes(), type=Computation)
