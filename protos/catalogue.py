"""The catalogue: all messages and kinds of log records, as data.

A run folder carries the one of the process that made it, so that a reader names a plug-in's messages without
the plug-in.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from protos import bodies, kinds
from protos.body import BodyType
from protos.records import Catalogue, MessageType, RecordKind


def current() -> Catalogue:
    """Of all that is registered in this process."""
    return _catalogue(range(bodies.PLUGINS.stop), range(kinds.PLUGINS.stop))


def builtin() -> Catalogue:
    """Of the project's own; what a run folder without a catalogue was made with."""
    return _catalogue(bodies.OWN, kinds.OWN)


def _catalogue(numbers: range, kind_numbers: range) -> Catalogue:
    return Catalogue(
        tuple(_message(bodies.BY_NUMBER[number]) for number in sorted(bodies.BY_NUMBER) if number in numbers),
        tuple(RecordKind(number, name) for number, name in sorted(_named()) if number in kind_numbers),
    )


def _named() -> list[tuple[int, str]]:
    return [(number, name) for name, number in kinds.KINDS.items()]


def _message(one: BodyType) -> MessageType:
    return MessageType(one.number, one.name, one.sender, one.settles, one.purpose, one.protocol)


def types_for(catalogue: Catalogue, purposes: Collection[str]) -> frozenset[str]:
    """The names of the messages that are for one of these purposes."""
    return frozenset(message.name for message in catalogue.messages if message.purpose in purposes)


def encode(catalogue: Catalogue) -> bytes:
    """JSON with every field."""
    written = {
        "messages": [msgspec.structs.asdict(message) for message in catalogue.messages],
        "kinds": [msgspec.structs.asdict(kind) for kind in catalogue.kinds],
    }
    return msgspec.json.encode(written)


def decode(data: bytes) -> Catalogue:
    """Raises msgspec.MsgspecError."""
    return msgspec.json.decode(data, type=Catalogue)
