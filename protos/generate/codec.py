"""Messages to protobuf's objects and back, and their exact size without encoding.

Every message gets three functions: `<message>_to_pb`, `<message>_from_pb` and `<message>_size`.
"""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from protos.generate.fields import (
    EIGHT_BYTES,
    FOUR_BYTES,
    ZIGZAG,
    F,
    element_type,
    enum_of,
    is_map,
    is_message,
    is_value,
    map_entry,
    message_of,
)
from protos.generate.schema import snake_case


def function(message: Descriptor, does: str) -> str:
    return f"{snake_case(message.name)}_{does}"


def message_codec(message: Descriptor) -> list[str]:
    return _value_codec(message) if is_value(message) else _struct_codec(message)


def _value_codec(message: Descriptor) -> list[str]:
    """Scalars: bool is refused by the language before it gets here, so `type(v) is` is exact."""
    n = message.name
    wrong = '    raise TypeError(f"{v!r} is neither string nor number")'
    out = ["", f"def {function(message, 'to_pb')}(v: {n}) -> Any:"]
    for f in message.fields:
        out += [f"    if type(v) is {element_type(f)}:", f"        return pb.{n}({f.name}=v)"]
    out += [wrong, "", "", f"def {function(message, 'from_pb')}(p: Any) -> {n}:"]
    out += [f'    kind = p.WhichOneof("{message.oneofs[0].name}")', "    if kind is None:"]
    out += ['        raise ValueError("value without content")', "    return getattr(p, kind)", ""]
    out += ["", f"def {function(message, 'size')}(v: {n}) -> int:"]
    for f in message.fields:
        out += [
            f"    if type(v) is {element_type(f)}:",
            f"        return {tag_size(f)} + {element_size(f, 'v')}",
        ]
    return [*out, wrong, ""]


def _struct_codec(message: Descriptor) -> list[str]:
    n = message.name
    out = ["", f"def {function(message, 'to_pb')}(v: {n}) -> Any:", f"    p = pb.{n}()"]
    for f in message.fields:
        out += assign(f)
    out += ["    return p", "", "", f"def {function(message, 'from_pb')}(p: Any) -> {n}:", f"    return {n}("]
    out += [f"        {f.name}={read(f)}," for f in message.fields]
    out += ["    )", "", "", f"def {function(message, 'size')}(v: {n}) -> int:", "    size = 0"]
    for f in message.fields:
        out += add_size(f)
    return [*out, "    return size", ""]


# ---------------------------------------------------------------- to protobuf


def assign(f: FieldDescriptor) -> Iterator[str]:
    if is_map(f):
        _, value = map_entry(f)
        yield f"    for key, value in v.{f.name}.items():"
        if value.type == F.TYPE_MESSAGE:
            yield f"        p.{f.name}[key].CopyFrom({function(message_of(value), 'to_pb')}(value))"
        else:
            yield f"        p.{f.name}[key] = value"
    elif f.is_repeated and f.type == F.TYPE_MESSAGE:
        yield f"    p.{f.name}.extend([{function(message_of(f), 'to_pb')}(x) for x in v.{f.name}])"
    elif f.is_repeated:
        yield f"    p.{f.name}.extend(v.{f.name})"
    elif f.type == F.TYPE_MESSAGE:
        copied = f"p.{f.name}.CopyFrom({function(message_of(f), 'to_pb')}(v.{f.name}))"
        yield f"    if v.{f.name} is not None:\n        {copied}" if is_message(f) else f"    {copied}"
    else:
        yield f"    if v.{f.name}:"
        yield f"        p.{f.name} = v.{f.name}"


# ---------------------------------------------------------------- from protobuf


def read(f: FieldDescriptor) -> str:
    if is_map(f):
        _, value = map_entry(f)
        return f"{{key: {read_element(value, 'value')} for key, value in p.{f.name}.items()}}"
    if f.is_repeated:
        one = read_element(f, "x")
        return f"tuple(p.{f.name})" if one == "x" else f"tuple({one} for x in p.{f.name})"
    one = read_element(f, f"p.{f.name}")
    return f'{one} if p.HasField("{f.name}") else None' if is_message(f) else one


def read_element(f: FieldDescriptor, at: str) -> str:
    if f.type == F.TYPE_MESSAGE:
        return f"{function(message_of(f), 'from_pb')}({at})"
    return f"{enum_of(f).name}({at})" if f.type == F.TYPE_ENUM else at


# ---------------------------------------------------------------- sizes


def tag_size(f: FieldDescriptor) -> int:
    return next(size for size in range(1, 6) if f.number < 1 << 7 * size - 3)


def delimited(size: str) -> str:
    return f"(inner := {size}) + size_of_varint(inner)"


def add_size(f: FieldDescriptor) -> Iterator[str]:
    tag = tag_size(f)
    if is_map(f):
        key, value = map_entry(f)
        yield f"    for key, value in v.{f.name}.items():"
        yield f"        entry = 2 + {element_size(key, 'key')}"
        yield f"        entry += {element_size(value, 'value')}"
        yield f"        size += {tag} + entry + size_of_varint(entry)"
    elif f.is_repeated and f.type in (F.TYPE_MESSAGE, F.TYPE_STRING, F.TYPE_BYTES):
        yield f"    for x in v.{f.name}:"
        yield f"        size += {tag} + {element_size(f, 'x')}"
    elif f.is_repeated:
        yield f"    if v.{f.name}:"
        packed = f"sum([{element_size(f, 'x')} for x in v.{f.name}])"
        yield f"        size += {tag} + {delimited(packed)}"
    elif f.type == F.TYPE_MESSAGE:
        added = f"size += {tag} + {element_size(f, f'v.{f.name}')}"
        yield f"    if v.{f.name} is not None:\n        {added}" if is_message(f) else f"    {added}"
    else:
        yield f"    if v.{f.name}:"
        yield f"        size += {tag} + {element_size(f, f'v.{f.name}')}"


def element_size(f: FieldDescriptor, at: str) -> str:
    """Of one element, with its length but without its tag."""
    if f.type == F.TYPE_MESSAGE:
        return delimited(f"{function(message_of(f), 'size')}({at})")
    if f.type == F.TYPE_STRING:
        return f"size_of_text({at})"
    if f.type == F.TYPE_BYTES:
        return delimited(f"len({at})")
    if f.type == F.TYPE_BOOL:
        return "1"
    if f.type in EIGHT_BYTES | FOUR_BYTES:
        return "8" if f.type in EIGHT_BYTES else "4"
    return f"size_of_signed({at})" if f.type in ZIGZAG else f"size_of_varint({at})"
