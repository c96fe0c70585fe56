"""The sans-IO contract: a protocol is told what happened and answers what to do.

    effects  = machine.handle(now_us, stimulus)
    deadline = machine.next_deadline_us()      # absolute, or None; one in the past means now

`Driven` is what a broker's and a client's machine share, `Machine` all that a driver may ask of a broker's.
A machine never opens a socket, reads a clock, sleeps, or draws from a global random source.
Configuration and a seeded `random.Random` come in through its constructor. Two drivers exist, the
gRPC process and the simulator, and a machine cannot tell them apart.

Rules that keep the two equal: sets are iterated in sorted order, links are FIFO, messages are
immutable values (a changed message is a new one), and `now_us` never goes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Protocol

import msgspec

from protos.body import Body, Envelope
from protos.client_messages import Publication
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

    Who may connect is the driver's to decide, before (`process.handshake`). If it replaces an older stream of
    this peer, its PeerDown comes first.
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


class Instructed(msgspec.Struct, gc=False):
    """Whoever runs the broker wants something of it: `set` some options, or what its protocol knows.

    A broker's only. What it cannot do it refuses with a record, as it does with a message.
    """

    name: str
    arguments: dict[str, Any]


class TripMeasured(msgspec.Struct, gc=False):
    """So long took a packet to this broker and its answer: what a `MeasureTrip` was for. A broker's only."""

    peer: str
    rtt_us: int


Stimulus = Received | PeerUp | PeerDown | Rejected | DeadlineReached | Instructed | TripMeasured


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
        event = LogEvent(self.t_us, 0, self.node, self.kind, body.type, peer, body.id, envelope.hops,
                         self.size, body.published_us)  # fmt: skip
        if body.leg:
            event.leg = body.leg
        return event


class Log(msgspec.Struct, gc=False):
    """The driver stamps `t_us`, `n` and `node` where the machine left them empty.

    Sampling is the machine's: it logs SAMPLED at its times. A driver that is a process of its own adds the
    memory of that process.
    """

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


class MeasureTrip(msgspec.Struct, gc=False):
    """Measure the round trip to a broker, linked or not, by what its kernel answers.

    `TripMeasured` comes when it answers at all, and within `TRIP_PATIENCE_US` (`core.limits`).
    """

    peer: str


class OverlayChanged(msgspec.Struct, gc=False):
    """The overlay is another one from now on: whoever starts brokers and looks at links has to know it.

    Several brokers may say the same; `change` tells it from others.
    """

    change: str
    added: tuple[str, str]  # the first dials
    removed: tuple[str, str]


class Delivered(msgspec.Struct, gc=False):
    """Client machine only: a publication for the application, over so many overlay links."""

    publication: Publication
    hops: int


class Answered(msgspec.Struct, gc=False):
    """Client machine only: the request with this token is done (`id`) or refused (`error`)."""

    token: int
    id: str = ""
    error: str = ""


Effect = Send | Copies | Log | OpenLink | CloseLink | MeasureTrip | OverlayChanged | Delivered | Answered
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


# ---------------------------------------------------------------- what a driver may ask


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """A broker's account of itself: the fields of StatusAnswer that a machine knows.

    Messages that settle are counted over the links that are up, since they came up: when nothing is on its
    way, the sums over all brokers of sent and of received are equal, also after faults.
    """

    broker: str
    incarnation: int
    settled: bool
    links: dict[str, bool]  # neighbour with a link that is up -> synchronised
    clients: int = 0
    advertisements: int = 0
    subscriptions: int = 0
    control_sent: int = 0
    control_received: int = 0
    publications: int = 0
    deliveries: int = 0
    dropped: int = 0


class Measures(Protocol):
    """Where a driver with a real clock notes what it measured, in place of a service model."""

    def handled(self, took_us: int) -> None:
        """A publication was matched and its copies handed over."""

    def sent(self, peer: str, size: int, waited_us: int) -> None:
        """So many bytes to this peer, that long after the machine had said so."""


class Driven(Protocol):
    """A machine of a broker or of a client."""

    def handle(self, now_us: int, stimulus: Stimulus) -> Effects: ...

    def receive(self, now_us: int, peer: str, envelope: Envelope) -> Effects:
        """`handle` of a `Received`, for a driver that spares itself the object."""

    def next_deadline_us(self) -> int | None: ...


class Machine(Driven, Protocol):
    """The machine of a broker."""

    def farewell(self, now_us: int) -> Effects:
        """What is said before the driver stops this broker; nothing is asked of the machine after it."""

    def status(self) -> Status: ...

    @property
    def settled(self) -> bool:
        """As far as it knows, all that routing needs is here: no link of its own is being synchronised, and
        nothing that it decided is outstanding. What is on its way to it, it cannot know."""

    @property
    def waiting(self) -> int:
        """Messages in the queues of its service model; 0 without one."""

    @property
    def timeless(self) -> frozenset[type[Body]]:
        """Messages that move no deadline when they come in; so a driver need not ask after each."""

    @property
    def measures(self) -> Measures | None:
        """Where measured times go; None when the machine models its own."""
