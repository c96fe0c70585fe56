"""What an Envelope is, from its first bytes: type, hops and id, without decoding the whole message."""

from __future__ import annotations

from typing import NamedTuple

from protos.codec import BODY_NAMES
from protos.envelope import MalformedEnvelope, UnknownMessage, decode
from protos.messages import Hello
from protos.varint import decode_varint

# Messages of the link itself rather than of routing or relocation.
DATA_TYPES = frozenset({"publication"})
ID_TYPES = frozenset({"advertisement", "subscription", "publication", "unadvertisement", "unsubscription"})


class Seen(NamedTuple):
    type: str  # name of the body field; "unknown" for a body of a newer version, "malformed" for no Envelope
    hops: int = 0
    id: str = ""
    body_bytes: int = 0


def classify(data: bytes) -> Seen:
    """Never raises."""
    at, hops = 0, 0
    try:
        while at < len(data):
            tag, at = (data[at], at + 1) if data[at] < 128 else decode_varint(data, at)
            if tag & 7 == 2:
                length, at = (data[at], at + 1) if data[at] < 128 else decode_varint(data, at)
                if at + length > len(data):
                    return Seen("malformed")
                name = BODY_NAMES.get(tag >> 3, "unknown")
                return Seen(name, hops, _id(data, at) if name in ID_TYPES else "", length)
            if tag & 7:
                return Seen("malformed")
            value, at = (data[at], at + 1) if data[at] < 128 else decode_varint(data, at)
            if tag == 16:
                hops = value
    except (ValueError, IndexError):
        return Seen("malformed")
    return Seen("malformed")


def _id(data: bytes, at: int) -> str:
    if at >= len(data) or data[at] != 0x0A:
        return ""
    length, at = decode_varint(data, at + 1)
    return data[at : at + length].decode("utf-8", "replace")


def hello(data: bytes) -> Hello | None:
    """The Hello in the message, if it is one."""
    try:
        body = decode(data).body
    except (MalformedEnvelope, UnknownMessage):
        return None
    return body if isinstance(body, Hello) else None
