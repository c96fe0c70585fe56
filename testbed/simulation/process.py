"""A simulated process: its machine, the streams it holds, and what is done with the machine's effects.

Brokers and clients are two kinds of it (`broker_process`, `client_process`).

The counterpart of `process.runtime`, without bytes. `take` and `apply` are the innermost loop of a
simulation. A hop is at another process than the one before, whose objects have left the processor's cache
meanwhile: what costs is how many of them are touched, more than what is done with them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from broker_grpc.machine import (
    RECORDS_OF_SENDING,
    CloseLink,
    Copies,
    DeadlineReached,
    Driven,
    Effects,
    Log,
    MeasureTrip,
    OpenLink,
    OverlayChanged,
    PeerKind,
    Send,
    Stimulus,
)
from protos.body import Body, Envelope
from protos.client_messages import Publication
from protos.envelope import TYPE_OF, encoded_size
from protos.records import LogEvent
from testbed.run.stimuli import Look
from testbed.simulation.agenda import Agenda
from testbed.simulation.eventlog import SPILL_EVENTS, SimulatedLog
from testbed.simulation.pipes import Inbox, Pipe
from testbed.simulation.streams import Streams


class Process:
    """A broker or client that runs."""

    __slots__ = (
        "_agenda", "_log", "_pipes", "_streams", "_timeless", "_wake_us", "alive", "id", "inbox", "machine",
        "on_acted",
    )  # fmt: skip

    kind: ClassVar[PeerKind]
    machine: Driven

    def __init__(
        self,
        id_: str,
        machine: Driven,
        timeless: frozenset[type[Body]],
        agenda: Agenda,
        streams: Streams,
        log: SimulatedLog,
    ) -> None:
        """`timeless`: messages that move no deadline of the machine when they come in."""
        self.id = id_
        self.machine = machine
        self.alive = True
        self.on_acted: Callable[[], None] | None = None  # after effects, while somebody waits for some
        self._agenda = agenda
        self._streams = streams
        self._log = log
        self._pipes: dict[str, Pipe] = streams.pipes_of(id_)  # the live ones
        self._timeless = timeless
        self.inbox: Inbox = self.take  # one for all its streams
        self._wake_us = -1  # when it wants to be woken next; -1 = never

    # ------------------------------------------------------------ what the two kinds answer

    def stop(self) -> None:
        """Begin to end, in the way of its kind."""
        raise NotImplementedError

    def show(self, look: Look) -> None:
        """Add its own account."""
        raise NotImplementedError

    def told(self, effect: OverlayChanged | MeasureTrip) -> None:
        """What only a broker wants of whoever drives it."""

    def quiet(self) -> None:
        """Publish no more."""

    @property
    def delivered(self) -> int:
        """Publications given to an application here."""
        return 0

    # ------------------------------------------------------------ what happens to it

    def take(self, pipe: Pipe, envelope: Envelope) -> None:
        """What arrives on one of its streams."""
        if pipe.inbox is None:  # the stream has ended since this was sent
            return
        self._streams.carried += 1
        now_us = self._agenda.now_us
        effects = self.machine.receive(now_us, pipe.sender, envelope)
        if effects:
            self.apply(effects)
        kind = envelope.body.__class__
        # With a control message the machine has done what was due in this instant: that has another time now.
        if kind not in self._timeless or (0 <= self._wake_us <= now_us and kind is not Publication):
            self.arm()

    def feed(self, stimulus: Stimulus) -> None:
        self.apply(self.machine.handle(self._agenda.now_us, stimulus))
        self.arm()

    def arm(self) -> None:
        deadline = self.machine.next_deadline_us()
        if deadline is not None and deadline != self._wake_us:
            self._wake_us = deadline
            self._agenda.at(deadline, self._wake, deadline)

    def _wake(self, deadline: int, _: None) -> None:
        if self._wake_us == deadline and self.alive:
            self._wake_us = -1
            self.feed(DeadlineReached())

    # ------------------------------------------------------------ what it does

    def apply(self, effects: Effects) -> None:
        get, send, write = self._pipes.get, self._streams.send, self._log.waiting.append
        unsent = ""  # peer of a message that went nowhere: the record behind it is not true
        for effect in effects:
            kind = effect.__class__
            if kind is Log:
                event: LogEvent = effect.event  # type: ignore[union-attr]
                if unsent:
                    untrue = event.peer == unsent and event.kind in RECORDS_OF_SENDING
                    unsent = ""
                    if untrue:
                        continue
                if not event.t_us:
                    event.t_us = self._agenda.now_us
                if not event.node:
                    event.node = self.id
                write(event)
            elif kind is Copies:
                envelope = effect.envelope  # type: ignore[union-attr]
                for peer in effect.peers:  # type: ignore[union-attr]
                    pipe = get(peer)
                    if pipe is not None:
                        send(pipe, envelope)
                        write(effect.record(peer))  # type: ignore[union-attr]
                    else:
                        self._dropped(peer, envelope)
            elif kind is Send:
                pipe = get(effect.peer)  # type: ignore[union-attr]
                if pipe is not None:
                    send(pipe, effect.envelope)  # type: ignore[union-attr]
                    unsent = ""
                else:
                    unsent = effect.peer  # type: ignore[union-attr]
                    self._dropped(unsent, effect.envelope)  # type: ignore[union-attr]
            elif kind is OpenLink:
                self._streams.open(self.id, effect.peer)  # type: ignore[union-attr]
            elif kind is CloseLink:
                self._close(effect)  # type: ignore[arg-type]
            elif kind is OverlayChanged or kind is MeasureTrip:
                self.told(effect)  # type: ignore[arg-type]
        if len(self._log.waiting) >= SPILL_EVENTS:
            self._log.spill()
        if self.on_acted is not None:
            self.on_acted()

    def _close(self, link: CloseLink) -> None:
        self._streams.close(self.id, link.peer, link.reason, link.redial, link.forever)

    def _dropped(self, peer: str, envelope: Envelope) -> None:
        """As the real process says it."""
        body = envelope.body
        event = LogEvent(
            kind="DROPPED",
            type=TYPE_OF[body.__class__],
            peer=peer,
            message=getattr(body, "id", ""),
            bytes=encoded_size(envelope),
            published_us=body.published_us if isinstance(body, Publication) else 0,
            detail="no stream to this peer",
        )
        self._log.write(event, self._agenda.now_us, self.id)
