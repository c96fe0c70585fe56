"""How many bytes an object holds: itself and all that it reaches, each object once."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

NO_SLOTS = ("__dict__", "__weakref__")
CODE = (type, ModuleType, FunctionType, BuiltinFunctionType)  # shared by the process, no state of a broker


def held(root: Any, seen: set[int]) -> int:
    """Of what is not in `seen` yet, which then is. What one does not own is put there before."""
    total, waiting = 0, [root]
    while waiting:
        at = waiting.pop()
        if id(at) in seen or isinstance(at, CODE):
            continue
        seen.add(id(at))
        total += sys.getsizeof(at)
        waiting.extend(_parts(at))
    return total


def _parts(at: Any) -> Iterator[Any]:
    if isinstance(at, dict):
        yield from at.keys()
        yield from at.values()
    elif isinstance(at, list | tuple | set | frozenset) or type(at).__name__ == "deque":
        yield from at
    elif isinstance(at, MethodType):
        yield at.__self__
    if hasattr(at, "__dict__"):
        yield at.__dict__
    for name in _slots(type(at)):
        if hasattr(at, name):
            yield getattr(at, name)


def _slots(kind: type) -> Iterable[str]:
    for one in kind.__mro__:
        names = one.__dict__.get("__slots__", ())
        yield from [names] if isinstance(names, str) else (n for n in names if n not in NO_SLOTS)
    yield from getattr(kind, "__struct_fields__", ())
