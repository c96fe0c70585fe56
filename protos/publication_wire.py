"""Publications to bytes and back without protobuf objects: the hot path of every broker and client.

Reading takes the form that all our writers produce (short fields, key before value) and gives up on
everything else: the caller then asks protobuf, which is always right. Attributes keep their order.
"""

from __future__ import annotations

from struct import Struct
from typing import TypeVar

from protos.client_messages import Publication
from protos.content_messages import Value
from protos.varint import decode_varint, encode_varint

_Key = TypeVar("_Key")
_Kept = TypeVar("_Kept")

_DOUBLE = Struct("<d")
_pack_double, _unpack_double = _DOUBLE.pack, _DOUBLE.unpack_from
_ENTRY, _KEY, _VALUE = 0x2A, 0x0A, 0x12
_TEXT, _INTEGER, _REAL = 0x0A, 0x10, 0x19
_PLANE, _LEG = 0x40, 0x48
_TEXT_FIELDS = {0x0A: "id", 0x12: "publisher", 0x1A: "advertisement"}

# Publications repeat themselves: names, classes and symbols all the time, and a real number differs from the
# last one only in its eight bytes. So most entries are looked up instead of parsed or put together.
_CACHE = 4096
_CACHED_TEXT = 32
_names: dict[bytes, str] = {}  # an entry with a real number, without the number -> attribute
_entries: dict[bytes, tuple[str, str]] = {}  # an entry with a short text -> attribute and text
_prefixes: dict[str, bytes] = {}  # attribute -> the field with a real number, without the number
_fields: dict[tuple[str, str], bytes] = {}  # attribute and short text -> the field


def read_publication(data: bytes) -> Publication | None:
    """None when the bytes are not in the usual form: they may still be a publication, or an error."""
    try:
        return _read(data)
    except (IndexError, UnicodeDecodeError, ValueError):
        return None


def _read(data: bytes) -> Publication | None:
    publication = Publication()
    attributes = publication.attributes
    at, end = 0, len(data)
    while at < end:
        tag, length = data[at], data[at + 1]
        if tag == _ENTRY:
            start = at + 2
            if length > 127:
                length, start = decode_varint(data, at + 1)
            at = start + length
            if at > end:
                return None
            name = _names.get(data[start : at - 8])
            if name is not None:
                attributes[name] = _unpack_double(data, at - 8)[0]
                continue
            known = _entries.get(data[start:at]) or _parse_entry(data, start, at)
            if known is None:
                return None
            attributes[known[0]] = known[1]
        elif tag in _TEXT_FIELDS:
            if length > 127 or at + 2 + length > end:
                return None
            setattr(publication, _TEXT_FIELDS[tag], data[at + 2 : at + 2 + length].decode())
            at += 2 + length
        elif tag == 0x20:
            number, at = decode_varint(data, at + 1)
            if number >> 63:
                return None  # negative
            publication.published_us = number
        elif tag == 0x32:
            length, start = decode_varint(data, at + 1)
            at = start + length
            if at > end:
                return None
            publication.payload = data[start:at]
        elif tag in (_PLANE, _LEG):
            number, at = decode_varint(data, at + 1)
            if number >> 32:
                return None
            setattr(publication, "plane" if tag == _PLANE else "leg", number)
        else:
            return None
    return publication


def _parse_entry(data: bytes, start: int, end: int) -> tuple[str, Value] | None:
    """Attribute and value of an entry, remembered if it is likely to come again."""
    key_end = start + 2 + data[start + 1]
    if data[start] != _KEY or data[start + 1] > 127 or key_end >= end:
        return None
    value = _value(data, key_end, end)
    if value is None:
        return None
    name = data[start + 2 : key_end].decode()
    if type(value) is float:
        _remember(_names, data[start : end - 8], name)
    elif type(value) is str and end - start <= _CACHED_TEXT:
        _remember(_entries, data[start:end], (name, value))
    return name, value


def _remember(cache: dict[_Key, _Kept], key: _Key, kept: _Kept) -> None:
    if len(cache) >= _CACHE:
        cache.clear()
    cache[key] = kept


def _value(data: bytes, at: int, end: int) -> Value | None:
    """The value of an entry that takes exactly the bytes from `at` to `end`."""
    length, start = data[at + 1], at + 2
    if length > 127:
        length, start = decode_varint(data, at + 1)
    if data[at] != _VALUE or start + length != end or not length:
        return None
    kind = data[start]
    if kind == _REAL:
        return float(_unpack_double(data, start + 1)[0]) if length == 9 else None
    if kind == _TEXT:
        size, first = data[start + 1], start + 2
        if size > 127:
            size, first = decode_varint(data, start + 1)
        return data[first:end].decode() if first + size == end else None
    if kind == _INTEGER:
        number, after = decode_varint(data, start + 1)
        return (number >> 1) ^ -(number & 1) if after == end and not number >> 64 else None
    return None


def write_publication(publication: Publication) -> bytes | None:
    """None for a publication with a trace or a negative time; TypeError for an attribute of another type."""
    if publication.trace is not None or publication.published_us < 0:
        return None
    parts: list[bytes] = []
    texts = (
        (b"\x0a", publication.id),
        (b"\x12", publication.publisher),
        (b"\x1a", publication.advertisement),
    )
    for tag, text in texts:
        if text:
            encoded = text.encode()
            parts += (tag, encode_varint(len(encoded)), encoded)
    if publication.published_us:
        parts += (b"\x20", encode_varint(publication.published_us))
    for name, value in publication.attributes.items():
        if type(value) is float:
            parts += (_prefixes.get(name) or _real_prefix(name), _pack_double(value))
        elif type(value) is str:
            parts.append(_fields.get((name, value)) or _text_field(name, value))
        elif type(value) is int:
            parts.append(_field(name, b"\x10" + _zigzag(value)))
        else:
            raise TypeError(f"{value!r} is neither string nor number")
    if publication.payload:
        parts += (b"\x32", encode_varint(len(publication.payload)), publication.payload)
    if publication.plane:
        parts += (b"\x40", encode_varint(publication.plane))
    if publication.leg:
        parts += (b"\x48", encode_varint(publication.leg))
    return b"".join(parts)


def _field(name: str, content: bytes) -> bytes:
    key = name.encode()
    entry = b"\x0a" + encode_varint(len(key)) + key + b"\x12" + encode_varint(len(content)) + content
    return b"\x2a" + encode_varint(len(entry)) + entry


def _real_prefix(name: str) -> bytes:
    prefix = _field(name, b"\x19" + bytes(8))[:-8]
    _remember(_prefixes, name, prefix)
    return prefix


def _text_field(name: str, value: str) -> bytes:
    encoded = value.encode()
    field = _field(name, b"\x0a" + encode_varint(len(encoded)) + encoded)
    if len(field) <= _CACHED_TEXT:
        _remember(_fields, (name, value), field)
    return field


def _zigzag(value: int) -> bytes:
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"{value} does not fit 64 bits")
    return encode_varint(value << 1 if value >= 0 else (-value << 1) - 1)
