"""The Envelope, what all its bodies have in common, and what is known of one type of body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import msgspec

from protos.varint import encode_varint

Sender = Literal["anyone", "broker", "client"]


class Body(msgspec.Struct, gc=False, kw_only=True):
    """A message that can be sent; its classes are generated from the .proto files.

    Messages are immutable values, so a body is encoded and measured once, however far it travels.
    """

    type: ClassVar[str] = ""  # name of the Envelope's field
    settles: ClassVar[bool] = True  # counts when the harness waits for silence
    wire: bytes = b""
    wire_size: int = -1


class Envelope(msgspec.Struct, gc=False):
    """wire.proto's Envelope."""

    body: Body
    hops: int = 0
    request: int = 0
    version: int = 1


class BodyType(msgspec.Struct, frozen=True, gc=False):
    """One type of body: what its .proto file says of it, and its codec."""

    kind: type[Body]
    number: int  # of the Envelope's field
    protocol: str  # name of the .proto file
    sender: Sender
    purpose: str
    to_protobuf: Callable[[Any], Any]
    from_protobuf: Callable[[Any], Any]
    parse: Callable[[bytes], Any]  # into protobuf's own object
    size: Callable[[Any], int]  # of the body's bytes, without encoding
    tag: bytes = b""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "tag", encode_varint(self.number << 3 | 2))

    @property
    def name(self) -> str:
        return self.kind.type

    @property
    def settles(self) -> bool:
        return self.kind.settles

    @property
    def place(self) -> str:
        """Where its class is, for messages about it."""
        return f"{self.kind.__module__}.{self.kind.__qualname__}"
