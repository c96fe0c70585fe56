"""What every broker machine shares: its peers, messages that come in and go out, counters, and time.

A protocol is a subclass: it says what is its own (`hooks`), and which of its parts have deadlines. All else
is written here, once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from broker_grpc.core.heartbeats import Heartbeats
from broker_grpc.core.hooks import Hooks
from broker_grpc.core.links import Links, Peer
from broker_grpc.core.monitor import Monitor, Sampler
from broker_grpc.core.options import BrokerOptions, check_changes
from broker_grpc.core.outbox import Outbox, id_of
from broker_grpc.core.queues import OutputQueue
from broker_grpc.core.senders import check_own_name, check_published, check_sender
from broker_grpc.core.station import Station
from broker_grpc.core.timed import Parts, Timed, earliest_us, run_due
from broker_grpc.errors import BrokerError, ProtocolError
from broker_grpc.machine import (
    SPENT,
    Effects,
    Instructed,
    Log,
    PeerDown,
    PeerKind,
    PeerUp,
    Received,
    Rejected,
    Status,
    Stimulus,
    TripMeasured,
)
from protos.body import Body, Envelope
from protos.client_messages import Advertisement, Publication, Subscription
from protos.core_messages import Ack, Heartbeat, HeartbeatAnswer, Hello, Probe, ProbeAnswer, Refusal
from protos.envelope import TYPE_OF, encoded_size
from protos.records import LogEvent

Action = Callable[[Peer, Envelope, Any], None]


class Node(Hooks):
    """A machine with peers. The last thing a subclass does in its constructor is to call `_arrange`."""

    __slots__ = (
        "_actions", "_after", "_before", "_brokers", "_clients", "_heartbeats", "_outbox", "_sampler",
        "_station", "_timed", "id", "incarnation", "links", "monitor", "options", "publications",
        "timeless",
    )  # fmt: skip

    quick: ClassVar[tuple[type[Body], ...]] = ()  # messages on which no timer of the protocol hangs
    checks_senders: ClassVar[bool] = True  # messages of the wrong kind of peer are refused before `_act`

    def __init__(self, id_: str, options: BrokerOptions | None, incarnation: int) -> None:
        self.id = id_
        self.options = options = options or BrokerOptions()
        self.incarnation = incarnation
        self.publications = 0
        self.links = Links()
        self._brokers = self.links.brokers
        self._clients = self.links.clients
        self.monitor = Monitor(options.output_bandwidth)
        self._actions: dict[type, Action] = {}
        output = OutputQueue(options) if options.has_service_model else None
        self._outbox = Outbox(id_, self.links, self.monitor, output)
        self._station = self._processor(output) if output is not None else None
        self._heartbeats = Heartbeats(self.links, options, self._outbox)
        self._sampler = Sampler(options.sample_every_us, self.monitor)
        self._actions |= {
            Probe: self._probed,
            Heartbeat: self._heartbeats.asked,
            HeartbeatAnswer: self._heartbeats.answered,
            Refusal: self._ignored,
            Ack: self._ignored,
            Hello: self._second_hello,
        }

    def _processor(self, output: OutputQueue) -> Station:
        return Station(
            self.options, self.links, self._outbox, output, self.monitor,
            self._match, self._publication, self._received, self._actions,
        )  # fmt: skip

    def _arrange(self, before: Parts = (), after: Parts = ()) -> None:
        """In which order is done what is due: before that which has just happened, or after it.

        What the modelled processor had finished by now comes before all else.
        """
        station = self._station
        served = (Timed(station.next_deadline_us, station.run),) if station is not None else ()
        self._before = served + before
        self._after = after
        self._timed = self._before + after
        self.timeless = self._moves_nothing()

    def _moves_nothing(self) -> frozenset[type[Body]]:
        """With a modelled processor every message has its time. Where nothing is ever due that a publication
        could move, none is looked at."""
        if self._station is not None:
            return frozenset()
        steady = all(part.deadline == self._sample or not part.moved_by_publications for part in self._timed)
        return frozenset(self.quick) | ({Publication} if steady else set())

    def _sampling(self) -> Parts:
        """The part that samples, where the options ask for samples."""
        return (Timed(self._sampler.next_deadline_us, self._sample),) if self.options.sample_every_us else ()

    # ------------------------------------------------------------ the machine

    def handle(self, now_us: int, stimulus: Stimulus) -> Effects:
        if stimulus.__class__ is Received:
            return self.receive(now_us, stimulus.peer, stimulus.envelope)
        effects = self._outbox.begin(now_us)
        run_due(self._before, now_us)
        match stimulus:
            case PeerUp():
                self._peer_up(stimulus)
            case PeerDown():
                self._peer_down(stimulus)
            case Rejected():
                self._outbox.refuse(stimulus.peer, stimulus.reason, stimulus.detail, stimulus.request)
            case Instructed():
                self._instructed(stimulus)
            case TripMeasured():
                self._trip_measured(stimulus)
        run_due(self._after, now_us)
        self._outbox.effects = SPENT
        return effects

    def receive(self, now_us: int, peer: str, envelope: Envelope) -> Effects:
        """What is due before waits for its own deadline: only the processor goes on (`Station.arrive`)."""
        outbox = self._outbox
        effects: Effects = []
        outbox.now_us, outbox.effects = now_us, effects
        if self._station is not None:
            self._station.arrive(now_us, peer, envelope)
        elif envelope.body.__class__ is Publication:
            if peer in self._brokers:
                self._publication(now_us, peer, "broker", envelope, None, 0, 0)
            else:
                known: PeerKind | None = "client" if peer in self._clients else None
                self._publication(now_us, peer, known, envelope, None, 0, 0)
        else:
            self._received(peer, envelope)
        if self._after:
            run_due(self._after, now_us)
        outbox.effects = SPENT
        return effects

    def next_deadline_us(self) -> int | None:
        return earliest_us(self._timed)

    def farewell(self, now_us: int) -> Effects:
        effects = self._outbox.begin(now_us)
        self._say_farewell()
        self._outbox.effects = SPENT
        return effects

    # ------------------------------------------------------------ messages

    def _received(self, source: str, envelope: Envelope) -> None:
        """Anything but a publication."""
        peer = self.links.get(source)
        if peer is None:
            return self._outbox.drop(source, envelope, "not connected")
        body, outbox = envelope.body, self._outbox
        event = LogEvent(outbox.now_us, 0, self.id, "RECEIVED", TYPE_OF[body.__class__], source, id_of(body),
                         envelope.hops, encoded_size(envelope))  # fmt: skip
        outbox.effects.append(Log(event))
        if peer.kind == "broker" and body.settles:
            peer.control_received += 1
        self._answer(peer, envelope)

    def _answer(self, peer: Peer, envelope: Envelope) -> None:
        """Act upon it, or refuse it."""
        body = envelope.body
        try:
            if self.checks_senders:
                check_sender(peer.kind, body)
            if peer.kind == "client" and isinstance(body, Advertisement | Subscription):
                check_own_name(peer.name, body)
            self._act(peer, envelope, body)
        except BrokerError as error:
            self._outbox.refuse(peer.name, error.reason, str(error), envelope.request, id_of(body))

    def _act(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        """Raises BrokerError for what is refused."""
        action = self._actions.get(body.__class__)
        if action is not None:
            action(peer, envelope, body)
        else:
            self._other(peer, envelope, body)

    def _probed(self, peer: Peer, envelope: Envelope, body: Probe) -> None:
        self._outbox.send(peer.name, ProbeAnswer(body.sequence), envelope.request)

    def _ignored(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        """It is in the log; an answer to an answer would never end."""

    def _second_hello(self, peer: Peer, envelope: Envelope, body: Hello) -> None:
        raise ProtocolError("a second hello on one stream")

    def _accepted(self, source: str, envelope: Envelope) -> Publication | None:
        """The publication of a local client, checked and acknowledged; None if it is refused."""
        publication: Publication = envelope.body  # type: ignore[assignment]
        try:
            check_published(source, publication)
            self._check_publication(source, publication)
        except BrokerError as error:
            self._outbox.refuse(source, error.reason, str(error), envelope.request, publication.id)
            return None
        if envelope.request:
            self._outbox.send(source, Ack(publication.id), envelope.request)
        return publication

    def _publication(
        self, now_us: int, source: str, kind: PeerKind | None, envelope: Envelope,
        targets: set[str] | None, queueing_us: int, matching_us: int,
    ) -> None:  # fmt: skip
        """Without a protocol's word a publication is a message like any other, which nobody has use for."""
        self._received(source, envelope)

    def send(self, peer: str, body: Body, request: int = 0) -> None:
        self._outbox.send(peer, body, request)

    def log(self, event: LogEvent) -> None:
        self._outbox.log(event)

    # ------------------------------------------------------------ peers and time

    def _peer_up(self, stimulus: PeerUp) -> None:
        if self.links.get(stimulus.peer) is not None:
            self._peer_down(PeerDown(stimulus.peer, "replaced by a newer stream"))
        peer = self.links.up(stimulus.peer, stimulus.kind, stimulus.incarnation)
        if peer.kind == "broker":
            self.log(LogEvent(kind="LINK_UP", peer=peer.name))
        self._up(peer)

    def _peer_down(self, stimulus: PeerDown) -> None:
        peer = self.links.down(stimulus.peer)
        if peer is None:
            return
        if peer.kind == "broker":
            self.log(LogEvent(kind="LINK_DOWN", peer=peer.name, detail=stimulus.reason))
        self.monitor.forget(peer.name)
        self._down(peer)

    def _trip_measured(self, stimulus: TripMeasured) -> None:
        """Only who asks has use for it."""

    def _sample(self, now_us: int) -> None:
        for event in self._sampler.sample(now_us, self.waiting):
            self.log(event)

    def _instructed(self, stimulus: Instructed) -> None:
        try:
            if stimulus.name == "set":
                self._set(stimulus.arguments)
            else:
                self._instruct(stimulus.name, stimulus.arguments)
        except BrokerError as error:
            self.log(LogEvent(kind="REFUSED", type=stimulus.name, detail=f"{error.reason}: {error}"))

    def _set(self, changes: dict[str, Any]) -> None:
        """All of them or none. Raises BrokerError."""
        check_changes(self.options, changes)
        for name, value in changes.items():
            setattr(self.options, name, value)
        self.monitor.bandwidth = self.options.output_bandwidth
        if self._outbox.queue is not None:
            self._outbox.queue.bandwidth = self.options.output_bandwidth
        self.log(LogEvent(kind="OPTIONS_SET", content=msgspec.json.encode(changes).decode()))

    # ------------------------------------------------------------ questions

    def _synced(self) -> dict[str, bool]:
        return {name: peer.synced for name, peer in sorted(self._brokers.items())}

    @property
    def now_us(self) -> int:
        """The time of the stimulus that is being handled, or of the service that has just ended."""
        return self._outbox.now_us

    @property
    def id_prefix(self) -> str:
        """Of ids given here: a restarted broker gives others."""
        return self.id if self.incarnation <= 1 else f"{self.id}.{self.incarnation}"

    @property
    def settled(self) -> bool:
        return all(self._synced().values())

    @property
    def waiting(self) -> int:
        return len(self._station) if self._station is not None else 0

    @property
    def measures(self) -> Monitor | None:
        return self.monitor if self._station is None else None

    def status(self) -> Status:
        brokers = self._brokers.values()
        advertisements, subscriptions = self._held()
        return Status(
            broker=self.id,
            incarnation=self.incarnation,
            settled=self.settled,
            links=self._synced(),
            clients=len(self._clients),
            advertisements=advertisements,
            subscriptions=subscriptions,
            control_sent=sum(peer.control_sent for peer in brokers),
            control_received=sum(peer.control_received for peer in brokers),
            publications=self.publications,
            deliveries=self._outbox.deliveries,
            dropped=self._outbox.dropped,
        )
