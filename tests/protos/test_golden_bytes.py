"""What is on the wire stays: one message of every type, byte for byte as it was first sent.

`golden_bytes.txt` has a line for each: name and bytes of the Envelope, hexadecimal. A new protocol has such a
file in the folder of its tests; no line ever changes, since captures of old runs are read with today's code.
"""

from __future__ import annotations

import types
import typing
from enum import IntEnum
from pathlib import Path
from typing import Any

import msgspec

from protos.body import Envelope
from protos.builtin import BODIES
from protos.client_messages import Publication
from protos.envelope import decode, encode, encoded_size

GOLDEN = sorted(Path(__file__).parents[1].glob("*/golden_bytes.txt"))
KEPT = {"wire", "wire_size"}  # what a body remembers of its own bytes
LATER = {"plane", "leg"}  # of a publication, not in the first captures: they are in a line of their own


def full(kind: Any) -> Any:
    """A message in which no field is at its default."""
    hints = typing.get_type_hints(kind)
    left_out = KEPT | LATER if kind is Publication else KEPT
    fields = [name for name in kind.__struct_fields__ if name not in left_out]
    return kind(**{name: sample(hints[name], name, 300 + at) for at, name in enumerate(fields)})


def sample(hint: Any, name: str, number: int) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        return tuple(sample(arguments[0], f"{name}{i}", number + i) for i in (1, 2))
    if origin is dict:
        return {name: number / 8}  # one: protobuf writes the entries of a map in any order
    if origin in (types.UnionType, typing.Union):
        return sample(arguments[0], name, number)
    if issubclass(hint, IntEnum):
        return list(hint)[-1]
    if issubclass(hint, msgspec.Struct):
        return full(hint)
    return {str: name, bytes: name.encode(), bool: True, float: number / 8, int: number}[hint]


def envelope(kind: type) -> Envelope:
    return Envelope(full(kind), hops=3, request=200)


def lines() -> list[str]:
    values = Publication("p:1", "p", "a", 5, {"text": "ü", "whole": -300, "real": 37.5}, b"payload")
    written = {body.name: encode(envelope(body.kind)) for body in BODIES}
    written["publication_untraced"] = encode(Envelope(values, hops=1))
    to_root = Publication("p:1", "p", attributes={"class": "news"}, plane=300, leg=1)
    written["publication_to_root"] = encode(Envelope(to_root, hops=1))
    return [f"{name} {data.hex()}" for name, data in written.items()]


def golden() -> list[str]:
    return [line for path in GOLDEN for line in path.read_text().splitlines()]


def test_every_message_is_sent_as_ever() -> None:
    assert sorted(lines()) == sorted(golden())


def test_what_was_ever_sent_can_be_read() -> None:
    written = {name: bytes.fromhex(data) for name, data in map(str.split, golden())}
    for body in BODIES:
        assert decode(written[body.name]) == envelope(body.kind)
        assert encoded_size(envelope(body.kind)) == len(written[body.name])
