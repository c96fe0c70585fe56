"""Pydantic's complaints in the words of the topology file."""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from testbed.topology.file.document import Document
from testbed.topology.file.problems import Problem
from testbed.topology.file.quantities import describe_type

_TYPES = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_LIMITS = {"gt": "more than", "ge": "at least", "lt": "less than", "le": "at most"}
_ALTERNATIVES = {
    "str",
    "int",
    "float",
    "bool",
    "constrained-int",
    "constrained-str",
}  # steps that no file has


def explain(error: ValidationError, model: type[BaseModel], document: Document) -> list[Problem]:
    """One problem per mistake; the alternatives of a union count as one, the one that was meant."""
    found: dict[tuple[Any, ...], Problem] = {}
    for one in _meant(error.errors()):
        loc = tuple(one["loc"])
        key = one["type"] == "extra_forbidden" or loc[-1:] == ("[key]",)
        message, hint = explain_one(one, model)
        problem = document.problem(loc, message, hint, key)
        alone = key or one["type"] == "missing"  # others at one place are alternatives of a union
        place = (problem.file, problem.line, problem.column, message if alone else "")
        found.setdefault(place, problem)
    return list(found.values())


def _meant(errors: Sequence[Any]) -> list[Any]:
    """Without complaints that a value is of the wrong type where another alternative looked inside of it."""

    def inner(one: Any) -> bool:
        above = tuple(one["loc"][:-1])
        return any(other is not one and tuple(other["loc"][: len(above)]) == above
                   and len(other["loc"]) > len(above) + 1 for other in errors)  # fmt: skip

    return [
        one
        for one in errors
        if not (one["type"] in _TYPES and one["loc"][-1] in _ALTERNATIVES and inner(one))
    ]


def explain_one(one: Any, model: type[BaseModel]) -> tuple[str, str]:
    """What is wrong and what would be right."""
    kind, loc, context = one["type"], one["loc"], one.get("ctx", {})
    name = _last_name(loc)
    if kind == "extra_forbidden":
        known = sorted(known_keys(model, loc[:-1]))
        near = difflib.get_close_matches(str(loc[-1]), known, n=1)
        listing = "known keys: " + ", ".join(known)
        return f"unknown key {loc[-1]!r}", f"did you mean {near[0]!r}?" if near else listing
    if kind == "missing":
        return f"{loc[-1]!r} is missing", "add it"
    if kind in ("quantity", "id"):
        text, *hints = str(one["msg"]).rsplit("; ", 1)  # the value itself may contain one
        hint = "".join(hints)
        return f"{name}: {text}" if kind == "quantity" and name else text, hint
    if kind in _TYPES:
        return f"{name} must be {_TYPES[kind]}, not {describe_type(one['input'])}", f"write {_TYPES[kind]}"
    if kind == "literal_error":
        return _not_one_of(name, one["input"], _literals(context.get("expected", "")))
    if kind == "union_tag_invalid":
        return _not_one_of("generator", context.get("tag"), _literals(context.get("expected_tags", "")))
    if kind in ("too_short", "too_long"):
        return _wrong_length(name, context)
    if kind == "string_pattern_mismatch":
        return f"{name} cannot be {one['input']!r}", f"it must match {context['pattern']}"
    for key, word in _LIMITS.items():
        if key in context:
            value = one["input"]
            return f"{name} must be {word} {context[key]}", f"not {value}" if isinstance(value, int) else ""
    if kind == "string_too_short":
        return f"{name} is empty", "write a text"
    return f"{name}: {one['msg']}", ""


def _wrong_length(name: str, context: dict[str, Any]) -> tuple[str, str]:
    count = context["actual_length"]
    has = "is empty" if count == 0 else f"has {count} {'entry' if count == 1 else 'entries'}"
    least, most = context.get("min_length"), context.get("max_length")
    return f"{name} {has}", f"write at least {least}" if least is not None else f"write at most {most}"


def _last_name(loc: tuple[Any, ...]) -> str:
    """The key that the file would have there; the step below `network` is a union's tag."""
    steps = [step for k, step in enumerate(loc) if k != 1 or loc[0] != "network" or step == "generator"]
    names = [str(s) for s in steps if isinstance(s, str) and "[" not in s and s not in _ALTERNATIVES]
    return names[-1] if names else "the file"


def _literals(text: str) -> list[str]:
    return [part.strip(" '\"") for part in str(text).replace(" or ", ", ").split(",")]


def _not_one_of(name: str, value: Any, known: list[str]) -> tuple[str, str]:
    near = difflib.get_close_matches(str(value), known, n=1)
    listing = "one of " + ", ".join(known)
    return f"{name} cannot be {value!r}", f"did you mean {near[0]!r}? ({listing})" if near else listing


def known_keys(model: type[BaseModel], loc: tuple[Any, ...]) -> set[str]:
    """The keys of the mapping at a location: follows fields, containers and union alternatives."""
    kinds: list[Any] = [model]
    for step in loc:
        kinds = [inner for kind in kinds for inner in _inside(kind, step)] or kinds
    return {key for kind in _models(kinds) for key in kind.model_fields}


def _inside(kind: Any, step: Any) -> list[Any]:
    out: list[Any] = []
    for one in _alternatives(kind):
        if isinstance(one, type) and issubclass(one, BaseModel):
            if step in one.model_fields:
                out.append(one.model_fields[step].annotation)
            elif step == one.__name__ or _is_tag(one, step):
                out.append(one)
        elif typing.get_origin(one) is dict:
            out.append(typing.get_args(one)[1])
        elif typing.get_origin(one) is list:
            out.append(typing.get_args(one)[0])
    return out


def _is_tag(model: type[BaseModel], step: Any) -> bool:
    """Whether a union's tag selects this model."""
    generator = model.model_fields.get("generator")
    if generator is None:
        return (step == "mininet") == ("mininet" in model.model_fields) and step in ("mininet", "explicit")
    return step in typing.get_args(generator.annotation)


def _alternatives(kind: Any) -> list[Any]:
    origin = typing.get_origin(kind)
    if origin is typing.Annotated:
        return _alternatives(typing.get_args(kind)[0])
    if origin in (typing.Union, types.UnionType):
        return [one for part in typing.get_args(kind) for one in _alternatives(part)]
    return [kind]


def _models(kinds: list[Any]) -> list[type[BaseModel]]:
    flat = [one for kind in kinds for one in _alternatives(kind)]
    return [one for one in flat if isinstance(one, type) and issubclass(one, BaseModel)]
