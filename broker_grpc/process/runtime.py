"""Drives one machine: bytes to stimuli, effects to bytes, deadlines to one timer.

Nothing here knows what the machine decides. Whoever owns the streams calls `attach`, `received` and
`detach`; whoever owns the dialling is called for OpenLink and CloseLink.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from broker_grpc.core.limits import Limits
from broker_grpc.errors import BrokerError
from broker_grpc.machine import (
    RECORDS_OF_SENDING,
    CloseLink,
    Copies,
    DeadlineReached,
    Driven,
    Effect,
    Effects,
    Log,
    OpenLink,
    PeerDown,
    PeerUp,
    Received,
    Rejected,
    Send,
    Stimulus,
)
from broker_grpc.process.clock import RunClock
from broker_grpc.process.eventlog import EventLog
from broker_grpc.process.session import Session
from broker_grpc.process.stopwatch import Stopwatch
from protos.body import Envelope
from protos.client_messages import Publication
from protos.core_messages import Refusal
from protos.envelope import TYPE_OF, VERSION, MalformedEnvelope, UnknownMessage, decode, encode, request_of
from protos.records import LogEvent

NO_TIMER = 1 << 63


class LinkKeeper(Protocol):
    def open(self, peer: str, address: str) -> None: ...

    def close(self, peer: str, reason: str, redial: bool) -> None: ...


class Runtime:
    def __init__(self, machine: Driven, clock: RunClock, log: EventLog, limits: Limits) -> None:
        self.machine = machine
        self.clock = clock
        self.log = log
        self.limits = limits
        self.sessions: dict[str, Session] = {}
        self.refused: dict[str, str] = {}  # brokers whose link was closed for good, and why
        self.links: LinkKeeper | None = None
        self.dropped = 0
        self.unsent: Counter[str] = Counter()  # by the kind of the record that was not written for it
        self.on_link: Callable[[str, bool], None] = lambda peer, up: None
        self.on_detached: Callable[[Session], None] = lambda session: None  # it may have messages left
        self.on_effect: Callable[[Effect], None] = lambda effect: None  # what only the owner understands
        self.stopwatch: Stopwatch | None = None  # where work is measured by the clock
        self.on_handled: Callable[[], None] | None = None  # after every stimulus
        self._loop = asyncio.get_running_loop()
        self._now = 0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = NO_TIMER

    # ------------------------------------------------------------ streams

    def attach(self, session: Session) -> None:
        """Hellos were exchanged. A newer stream with the same peer takes the place of the older."""
        older = self.sessions.get(session.peer)
        if older is not None:
            self.detach(older, "replaced by a newer stream")
            older.close("replaced by a newer stream")
        self.sessions[session.peer] = session
        if session.kind == "client":
            session.notice = lambda count: self._dropped_notice(session.peer, count)
        if self.stopwatch is not None:
            session.on_sent = self.stopwatch.sent
        self.feed(PeerUp(session.peer, session.kind, session.incarnation))
        if session.kind == "broker":
            self.on_link(session.peer, True)

    def detach(self, session: Session, reason: str) -> None:
        if self.sessions.get(session.peer) is not session:
            return
        del self.sessions[session.peer]
        self.on_detached(session)
        self.feed(PeerDown(session.peer, reason))
        if session.kind == "broker":
            self.on_link(session.peer, False)

    def received(self, session: Session, data: bytes) -> None:
        if len(data) > self.limits.max_message_bytes:
            detail = f"{len(data)} bytes, at most {self.limits.max_message_bytes} are accepted"
            return self.feed(Rejected(session.peer, "limit_exceeded", detail, request_of(data)))
        try:
            envelope = decode(data)
        except UnknownMessage as error:
            return self.feed(Rejected(session.peer, "unknown_message", str(error), request_of(data)))
        except MalformedEnvelope as error:
            return self.feed(Rejected(session.peer, "malformed", str(error), request_of(data)))
        try:
            if self.stopwatch is not None and envelope.body.__class__ is Publication:
                self._feed_measured(Received(session.peer, envelope))
            else:
                self.feed(Received(session.peer, envelope))
        except BrokerError as error:
            self.refuse(session, error.reason, str(error), envelope.request)

    def refuse(self, session: Session, reason: str, detail: str, request: int = 0) -> None:
        """Say no to one message that the machine would not take; the stream stays up."""
        session.send(encode(Envelope(Refusal(reason, detail), 0, request, VERSION)))
        self.log.write(LogEvent(kind="REFUSED", peer=session.peer, detail=f"{reason}: {detail}"))

    def _dropped_notice(self, peer: str, count: int) -> bytes:
        """Tells a client that it missed publications because it did not read."""
        detail = f"{count} publications for you did not fit into the output queue"
        data = encode(Envelope(Refusal("dropped", detail), 0, 0, VERSION))
        self.log.write(LogEvent(kind="SENT", type="refusal", peer=peer, bytes=len(data), detail=detail))
        return data

    # ------------------------------------------------------------ the machine

    def now_us(self) -> int:
        """The run clock, as the machine sees it: it never goes back."""
        now = self.clock.now_us()
        if now > self._now:
            self._now = now
        return self._now

    def feed(self, stimulus: Stimulus) -> None:
        self.act(self.machine.handle(self.now_us(), stimulus))
        if self.on_handled is not None:
            self.on_handled()

    def _feed_measured(self, stimulus: Received) -> None:
        assert self.stopwatch is not None
        now = self.now_us()
        effects = self.stopwatch.matching(self.machine, now, stimulus)
        self.act(effects)

    def act(self, effects: Effects) -> None:
        """Do what the machine answered, also to a request of the application."""
        self.apply(effects)
        self._arm()

    def apply(self, effects: Effects) -> None:
        last: Envelope | None = None
        data = b""
        unsent = ""  # peer of a message that was dropped just now: the record behind it is not true
        for effect in effects:
            kind = effect.__class__
            if kind is Send:
                if effect.envelope is not last:  # type: ignore[union-attr]
                    last = effect.envelope  # type: ignore[union-attr]
                    data = encode(last)
                unsent = "" if self._send(effect.peer, last, data) else effect.peer  # type: ignore[union-attr]
            elif kind is Copies:
                self._send_copies(effect)  # type: ignore[arg-type]
                unsent = ""
            elif kind is Log:
                event: LogEvent = effect.event  # type: ignore[union-attr]
                if unsent and event.kind in RECORDS_OF_SENDING and event.peer == unsent:
                    self.unsent[event.kind] += 1
                else:
                    self._write(event)
                unsent = ""
            elif kind is OpenLink or kind is CloseLink:
                self._relink(effect)  # type: ignore[arg-type]
            else:
                self.on_effect(effect)

    def _send_copies(self, copies: Copies) -> None:
        """Encoded once, and each recorded only if it was not dropped."""
        envelope = copies.envelope
        data = encode(envelope)
        for peer in copies.peers:
            if self._send(peer, envelope, data):
                self.log.write(copies.record(peer))
            else:
                self.unsent[copies.kind] += 1

    def _send(self, peer: str, envelope: Envelope, data: bytes) -> bool:
        session = self.sessions.get(peer)
        if session is None:
            self._drop(peer, envelope, len(data), "no stream to this peer")
            return False
        droppable = envelope.body.__class__ is Publication
        if session.send(data, droppable):
            return True
        self._drop(peer, envelope, len(data), "output queue full")
        if not droppable:
            # Not from inside the machine's own answer: it hears of the end as of any other.
            self._loop.call_soon(session.close, "output queue full")
        return False

    def _drop(self, peer: str, envelope: Envelope, size: int, reason: str) -> None:
        self.dropped += 1
        body = envelope.body
        message = getattr(body, "id", "")
        published = body.published_us if isinstance(body, Publication) else 0
        self.log.write(
            LogEvent(
                kind="DROPPED",
                type=TYPE_OF[body.__class__],
                peer=peer,
                message=message,
                bytes=size,
                published_us=published,
                detail=reason,
            )
        )

    def _write(self, event: LogEvent) -> None:
        if event.kind == "SAMPLED" and not event.memory_bytes:
            event.memory_bytes = resident_bytes()
        self.log.write(event)

    def _relink(self, effect: OpenLink | CloseLink) -> None:
        assert self.links is not None, "whoever makes a runtime also gives it a keeper of links"
        if isinstance(effect, OpenLink):
            self.links.open(effect.peer, effect.address)
        else:
            if effect.forever:
                self.refused[effect.peer] = effect.reason
            self.links.close(effect.peer, effect.reason, effect.redial)

    # ------------------------------------------------------------ one timer

    def _arm(self) -> None:
        """A later deadline leaves the timer alone: it looks again when it fires."""
        deadline = self.machine.next_deadline_us()
        if deadline is None or deadline >= self._timer_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = deadline
        when = (deadline - self.clock.offset_us) / 1e6
        self._timer = self._loop.call_at(when, self._fire)

    def _fire(self) -> None:
        self._timer, self._timer_at = None, NO_TIMER
        deadline = self.machine.next_deadline_us()
        if deadline is None:
            return
        self._now = max(self._now, self.clock.now_us())
        if deadline > self._now + 1:
            return self._arm()
        # The loop's clock is a float: it may be the last microsecond short.
        self._now = max(self._now, deadline)
        self.act(self.machine.handle(self._now, DeadlineReached()))
        if self.on_handled is not None:
            self.on_handled()

    def until_deadline_s(self) -> float | None:
        """How long until the machine is called again by itself; None = it will not be."""
        return None if self._timer is None else max(0.0, self._timer.when() - self._loop.time())

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def resident_bytes() -> int:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * 4096
