"""What an Envelope is, from its first bytes: type, hops and id, without decoding the whole message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from protos import catalogue
from protos.core_messages import Hello
from protos.envelope import PUBLICATION, MalformedEnvelope, UnknownMessage, decode
from protos.purposes import is_data
from protos.records import Catalogue
from protos.varint import decode_varint


@dataclass(frozen=True, eq=False)
class KnownMessages:
    """What of a catalogue is needed here, by number of the Envelope's field."""

    names: Mapping[int, str]
    identified: frozenset[int]  # data and routing: their first field, if it is text, is their id

    @staticmethod
    def of(listed: Catalogue) -> KnownMessages:
        with_id = [m.number for m in listed.messages if is_data(m.purpose) or m.purpose == "routing"]
        return KnownMessages({m.number: m.name for m in listed.messages}, frozenset(with_id))


LEG = 0x48  # tag of a publication's last field
BUILTIN = KnownMessages.of(catalogue.builtin())


class Seen(NamedTuple):
    type: str  # name of the body; "body_<number>" if the catalogue has none, "malformed" for no Envelope
    hops: int = 0
    id: str = ""
    body_bytes: int = 0
    leg: int = 0  # of a publication


def classify(data: bytes, known: KnownMessages = BUILTIN) -> Seen:
    """Never raises."""
    at, hops = 0, 0
    try:
        while at < len(data):
            tag, at = (data[at], at + 1) if data[at] < 128 else decode_varint(data, at)
            if tag & 7 == 2:
                length, at = (data[at], at + 1) if data[at] < 128 else decode_varint(data, at)
                if at + length > len(data):
                    return Seen("malformed")
                number = tag >> 3
                name = known.names.get(number) or f"body_{number}"
                id_ = _id(data, at) if number in known.identified else ""
                leg = _leg(data, at, at + length) if number == PUBLICATION else 0
                return Seen(name, hops, id_, length, leg)
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


def _leg(data: bytes, at: int, end: int) -> int:
    """Which leg of its way a publication is on: its last field, where it has one. Few do, and only where the
    bytes may end in it the fields before it are walked through."""
    if LEG not in data[max(at, end - 6) : end - 1]:
        return 0
    while at < end:
        tag, at = decode_varint(data, at)
        number, at = decode_varint(data, at)
        if tag == LEG:
            return number if at == end else 0
        at += number if tag & 7 == 2 else 0
    return 0


def hello(data: bytes) -> Hello | None:
    """The Hello in the message, if it is one."""
    try:
        body = decode(data).body
    except (MalformedEnvelope, UnknownMessage):
        return None
    return body if isinstance(body, Hello) else None
