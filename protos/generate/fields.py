"""What a message's fields are in Python."""

from __future__ import annotations

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

F = FieldDescriptor
FOUR_BYTES = {F.TYPE_FLOAT, F.TYPE_FIXED32, F.TYPE_SFIXED32}
EIGHT_BYTES = {F.TYPE_DOUBLE, F.TYPE_FIXED64, F.TYPE_SFIXED64}
ZIGZAG = {F.TYPE_SINT64, F.TYPE_SINT32}
VARINTS = {F.TYPE_INT64, F.TYPE_UINT64, F.TYPE_INT32, F.TYPE_UINT32}
FLOATS = {F.TYPE_DOUBLE, F.TYPE_FLOAT}
INTEGERS = VARINTS | ZIGZAG | (FOUR_BYTES | EIGHT_BYTES) - FLOATS


def message_of(field: FieldDescriptor) -> Descriptor:
    assert field.message_type is not None, field.full_name
    return field.message_type


def enum_of(field: FieldDescriptor) -> EnumDescriptor:
    assert field.enum_type is not None, field.full_name
    return field.enum_type


def is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def map_entry(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor]:
    """Key and value."""
    fields = message_of(field).fields_by_name
    return fields["key"], fields["value"]


def is_message(field: FieldDescriptor) -> bool:
    """A message of its own class, not a map and not a bare value."""
    return field.type == F.TYPE_MESSAGE and not is_map(field) and not is_value(message_of(field))


def is_value(message: Descriptor) -> bool:
    """A message that is only a oneof of scalars stands for the bare Python value."""
    return (
        len(message.oneofs) == 1
        and len(message.fields) > 1
        and len(message.oneofs[0].fields) == len(message.fields)
        and all(field.message_type is None for field in message.fields)
    )


def element_type(field: FieldDescriptor) -> str:
    """Of a field that is not repeated, or of one element."""
    if field.type == F.TYPE_STRING:
        return "str"
    if field.type == F.TYPE_BYTES:
        return "bytes"
    if field.type == F.TYPE_BOOL:
        return "bool"
    if field.type in FLOATS:
        return "float"
    if field.type in INTEGERS:
        return "int"
    if field.type == F.TYPE_ENUM:
        return enum_of(field).name
    return message_of(field).name


def python_type(field: FieldDescriptor) -> str:
    if is_map(field):
        key, value = map_entry(field)
        return f"dict[{element_type(key)}, {element_type(value)}]"
    if field.is_repeated:
        return f"tuple[{element_type(field)}, ...]"
    return f"{element_type(field)} | None" if is_message(field) else element_type(field)


DEFAULTS = {"str": '""', "bytes": 'b""', "bool": "False", "float": "0.0", "int": "0"}


def default(field: FieldDescriptor) -> str:
    if is_map(field):
        return "msgspec.field(default_factory=dict)"
    if field.is_repeated:
        return "()"
    if field.type == F.TYPE_MESSAGE:
        return "None" if is_message(field) else "''"
    return DEFAULTS.get(element_type(field), f"{element_type(field)}(0)")
