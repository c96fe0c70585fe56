"""Messages as msgspec structs."""

from __future__ import annotations

from google.protobuf.descriptor import Descriptor, EnumDescriptor

from protos.generate.fields import default, element_type, is_value, python_type
from protos.generate.schema import BodyOption


def enum_class(enum: EnumDescriptor) -> list[str]:
    values = [f"    {value.name} = {value.number}" for value in enum.values]
    return ["", f"class {enum.name}(IntEnum):", *values, ""]


def message_class(message: Descriptor, body: BodyOption | None) -> list[str]:
    if is_value(message):
        kinds = " | ".join(dict.fromkeys(element_type(field) for field in message.fields))
        return ["", f"{message.name} = {kinds}", ""]
    fields = [f"    {f.name}: {python_type(f)} = {default(f)}" for f in message.fields]
    if body is None:
        return ["", f"class {message.name}(msgspec.Struct, gc=False):", *(fields or ["    pass"]), ""]
    lines = ["", f"class {message.name}(Body, gc=False):"]
    lines += [f'    type: ClassVar[str] = "{body.name}"', f"    settles: ClassVar[bool] = {body.settles}"]
    return [*lines, *fields, *_equality(message), ""]


def _equality(message: Descriptor) -> list[str]:
    """Two bodies are the same whether or not one was encoded already."""
    same = " and ".join(f"self.{f.name} == other.{f.name}" for f in message.fields) or "True"
    return [
        "",
        "    def __eq__(self, other: object) -> bool:",
        f"        if other.__class__ is not {message.name}:",
        "            return NotImplemented",
        f"        return {same}",
        "",
        "    __hash__ = None",
    ]
