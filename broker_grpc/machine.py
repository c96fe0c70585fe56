"""The sans-IO contract: a protocol is told what happened and answers what to do.

    effects  = machine.handle(now_us, stimulus)
    deadline = machine.next_deadline_us()      # absolute, or None; one in the past means now

A machine never opens a socket, reads a clock, sleeps, or draws from a global random source.
Configuration and a seeded `random.Random` come in through its constructor. Two drivers exist, the
gRPC process and the simulator, and a machine cannot tell them apart.

Rules that keep the two equal: sets are iterated in sorted order, links are FIFO, messages are
immutable values (a changed message is a new one), and `now_us` never goes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Protocol

import msgspec

from protos.messages import Envelope, Publication
from protos.records import LogEvent

PeerKind = Literal["broker", "client"]

# Kinds of events that are true only if the message before them was sent.
RECORDS_OF_SENDING = ("FORWARDED", "NOTIFIED", "SENT", "PUBLISHED")


# ---------------------------------------------------------------- stimuli


class Received(msgspec.Struct, gc=False):
    """An envelope came in from a broker or client with which hellos were exchanged."""

    peer: str
    envelope: Envelope


class PeerUp(msgspec.Struct, gc=False):
    """A stream to a broker or client is usable in both directions: hellos were exchanged.

    A driver may ask `Broker.admit` before. If it replaces an older stream of this peer, its PeerDown
    comes first.
    """

    peer: str
    kind: PeerKind
    incarnation: int = 0  # from the peer's Hello


class PeerDown(msgspec.Struct, gc=False):
    """The stream is gone; nothing more can be sent to or will come from this peer."""

    peer: str
    reason: str = ""


class Rejected(msgspec.Struct, gc=False):
    """The driver could not decode what this peer sent: unknown message, newer version, too large."""

    peer: str
    reason: str  # one of the names in broker_grpc.errors
    detail: str = ""
    request: int = 0  # as far as it could be read: who asked gets the answer


class DeadlineReached(msgspec.Struct, gc=False):
    """`now_us` is at or after `next_deadline_us()`."""


Stimulus = Received | PeerUp | PeerDown | Rejected | DeadlineReached


# ---------------------------------------------------------------- effects


class Send(msgspec.Struct, gc=False):
    peer: str
    envelope: Envelope


class Copies(msgspec.Struct, gc=False):
    """The same publication to each of these peers, and a record of each copy that was sent.

    A `Send` and a `Log` per peer say the same (`unfolded`). Most of what a broker does is this, and one
    object for all copies is what a driver can carry out at little cost.
    """

    t_us: int
    node: str
    kind: Literal["FORWARDED", "NOTIFIED"]
    peers: list[str]
    envelope: Envelope
    size: int  # encoded

    def record(self, peer: str) -> LogEvent:
        """What the log has to say once the copy for this peer is on its way."""
        envelope = self.envelope
        body: Publication = envelope.body  # type: ignore[assignment]
        return LogEvent(self.t_us, 0, self.node, self.kind, body.type, peer, body.id, envelope.hops,
                        self.size, body.published_us)  # fmt: skip


class Log(msgspec.Struct, gc=False):
    """The driver stamps `t_us`, `n` and `node` where the machine left them empty."""

    event: LogEvent


class OpenLink(msgspec.Struct, gc=False):
    """Dial this broker, and keep dialling until CloseLink."""

    peer: str
    address: str


class CloseLink(msgspec.Struct, gc=False):
    """End the stream.

    With `redial` the side that dials goes on dialling (the link only seems dead). With `forever` this side
    takes no link from that broker any more.
    """

    peer: str
    reason: str = ""
    redial: bool = False
    forever: bool = False


class Delivered(msgspec.Struct, gc=False):
    """Client machine only: a publication for the application, over so many overlay links."""

    publication: Publication
    hops: int


class Answered(msgspec.Struct, gc=False):
    """Client machine only: the request with this token is done (`id`) or refused (`error`)."""

    token: int
    id: str = ""
    error: str = ""


Effect = Send | Copies | Log | OpenLink | CloseLink | Delivered | Answered
Effects = list[Effect]

# What a machine holds in place of effects that it handed over, so that the driver frees them while they are
# in the processor's cache, and not the machine with its next message. Nothing can be added to it: between two
# stimuli a machine does nothing.
SPENT: Effects = ()  # type: ignore[assignment]


def unfolded(effects: Effects) -> Iterator[Effect]:
    """The same effects without `Copies`."""
    for effect in effects:
        if isinstance(effect, Copies):
            for peer in effect.peers:
                yield Send(peer, effect.envelope)
                yield Log(effect.record(peer))
        else:
            yield effect


class Machine(Protocol):
    def handle(self, now_us: int, stimulus: Stimulus) -> Effects: ...

    def next_deadline_us(self) -> int | None: ...
