"""What all sections share: strictness, and names that are safe everywhere they end up."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

from testbed.topology.file.quantities import is_template

NODE_LIMIT = 10  # node + "-eth" + port must fit the kernel's 15 characters of an interface name
ID_LIMIT = 40
_NODE = re.compile(r"[A-Za-z][A-Za-z0-9_-]*$")
_ID = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*$")


class Section(BaseModel):
    """A mapping of the file: unknown keys are refused, values are not converted between types."""

    model_config = ConfigDict(extra="forbid", strict=True, validate_default=True, frozen=True)


def node_problem(value: str) -> str | None:
    """Why a text cannot be a node id, or None."""
    if not _NODE.match(value):
        return f"{value!r} cannot be a node id; use a letter, then letters, digits, '_' and '-'"
    if len(value) > NODE_LIMIT:
        room = f"at most {NODE_LIMIT} characters (it becomes part of interface names of at most 15)"
        return f"the node id {value!r} has {len(value)} characters; {room}"
    return None


def id_problem(value: str) -> str | None:
    """Why a text cannot be the id of a broker, client, program, phase or group, or None."""
    if not _ID.match(value):
        return f"{value!r} cannot be an id; use a letter, then letters, digits, '_', '-' and '.'"
    if len(value) > ID_LIMIT:
        return f"the id {value[:50]!r} has {len(value)} characters; use at most {ID_LIMIT}"
    return None


def _checked(problem: Any) -> AfterValidator:
    def check(value: str, info: ValidationInfo) -> str:
        if is_template(value) and info.context and info.context.get("templates"):
            return value
        text = problem(value)
        if text:
            raise PydanticCustomError("id", "{text}", {"text": text})
        return value

    return AfterValidator(check)


NodeId = Annotated[str, _checked(node_problem), WithJsonSchema({"type": "string", "title": "node id"})]
Id = Annotated[str, _checked(id_problem), WithJsonSchema({"type": "string", "title": "id"})]
Count = Annotated[int, Field(ge=1, le=100_000)]
Whole = Annotated[int, Field(ge=0, le=2**53)]
