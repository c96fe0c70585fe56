"""A document without the values that are wrong in themselves, so that all the rest of it can be checked too.

Only what makes no names and no processes is taken out: a quantity, a key that is like no known one, the seed.
Without a wrong `count`, for example, half of the brokers that the file speaks of would seem to be missing.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

from pydantic import BaseModel, ValidationError

from testbed.topology.file.document import Document
from testbed.topology.file.schema_errors import explain_one

_STAND_INS = {("name",): "x", ("seed",): 1, ("description",): ""}


def mended(document: Document, error: ValidationError, model: type[BaseModel]) -> Document | None:
    """None when something is wrong that other parts of the file may depend on."""
    data = copy.deepcopy(document.data)
    for one in error.errors():
        path = document.existing(tuple(one["loc"]))
        if path in _STAND_INS:
            data[path[0]] = _STAND_INS[path]
        elif path and isinstance(path[-1], str) and _is_alone(one, model):
            _remove(data, path)
        else:
            return None
    try:
        model.model_validate(data, context={"templates": True})
    except ValidationError:  # a value that must be there, for example
        return None
    return dataclasses.replace(document, data=data)


def _is_alone(one: Any, model: type[BaseModel]) -> bool:
    if one["type"] == "extra_forbidden":
        return "did you mean" not in explain_one(one, model)[1]
    return bool(one["type"] == "quantity")


def _remove(data: Any, path: tuple[Any, ...]) -> None:
    """What stands there may be gone already: two complaints about one value, or about one inside another."""
    for step in path[:-1]:
        if not isinstance(data, dict | list) or (isinstance(data, dict) and step not in data):
            return
        data = data[step]
    if isinstance(data, dict):
        data.pop(path[-1], None)
