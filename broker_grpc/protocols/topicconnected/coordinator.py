"""The coordinator: knows who is there, computes repairs, orders links, waits until they are up.

- A broker joins by telling its interests, and leaves with a farewell or by falling silent: without a
  heartbeat for `heartbeat_timeout_us` it is gone. A lost stream alone is no leave; it may be redialled.
- A decision may be charged with computing time (`computing.py`); the next one waits for it.
- Links that a repair no longer wants are kept until all that it does want are up.
- It keeps nothing on disk. Restarted, it hears for `gather_us` which links the brokers hold, takes
  these as the overlay, and mends what does not connect. Meanwhile publications flow as before. A broker
  that another one holds a link to is alive, so it is waited for: until it must have redialled or has left.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import msgspec

from broker_grpc.core.links import Peer, process_incarnation
from broker_grpc.core.node import Node
from broker_grpc.core.options import BrokerOptions
from broker_grpc.core.timed import Timed
from broker_grpc.protocols.topicconnected.computing import Computing, Decide
from broker_grpc.protocols.topicconnected.kinds import JOINED, LEFT, OVERLAY_UP, REPAIRED
from broker_grpc.protocols.topicconnected.maintenance import Link, Maintenance, Round, link
from broker_grpc.protocols.topicconnected.settings import CoordinatorSettings
from protos.body import Body, Envelope
from protos.records import LogEvent
from protos.topicconnected_messages import Farewell, OverlayOrder, OverlayReport, TopicInterest

EPOCHS = 32  # bits of an epoch below the incarnation


class Member:
    __slots__ = ("heard_us", "incarnation", "ordered", "topics", "up")

    def __init__(self, topics: Iterable[str], up: Iterable[str], incarnation: int, now_us: int) -> None:
        self.topics = frozenset(topics)
        self.up = frozenset(up)  # its links, as it said last
        self.incarnation = incarnation
        self.heard_us = now_us
        self.ordered: tuple[str, ...] | None = None  # None = it has not been told anything


class Coordinator(Node):
    checks_senders = False  # each message is looked at together with who sent it

    def __init__(
        self,
        id_: str,
        settings: CoordinatorSettings,
        options: BrokerOptions | None = None,
        incarnation: int = 1,
        random: Random | None = None,
    ) -> None:
        super().__init__(id_, options, incarnation)
        self.settings = settings
        self.members: dict[str, Member] = {}
        self.maintenance = Maintenance(settings, random or Random(0))
        self._gather_until: int | None = None
        self._gather_limit = 0  # at the latest, also with brokers missing
        self._begun = False
        self._epoch = incarnation << EPOCHS
        self._target: set[Link] = set()
        self._retiring: set[Link] = set()
        self._broken_since: int | None = None
        self._computing = Computing()
        self._arrange(after=(*self._sampling(), Timed(self._next_us, self._run_due)))

    # ------------------------------------------------------------ messages

    def _act(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        now_us, member = self.now_us, self.members.get(peer.name)
        if member is not None:
            member.heard_us = now_us
        match body:
            case TopicInterest() if peer.kind == "broker":
                self._interest(now_us, peer, member, body)
            case OverlayReport() if peer.kind == "broker":
                self._reported(now_us, member, body)
            case Farewell() if peer.kind == "broker":
                if member is not None:
                    self._leave(now_us, peer.name, f"farewell: {body.reason}")
            case _:
                super()._act(peer, envelope, body)

    def _interest(self, now_us: int, peer: Peer, member: Member | None, body: TopicInterest) -> None:
        incarnation = process_incarnation(peer.incarnation)
        if member is None and self._begun and body.links:
            self._gather_again(now_us)
        if not self._begun:
            self.members[peer.name] = Member(body.topics, body.links, incarnation, now_us)
            self._log_member(JOINED, peer.name, "heard of", body.topics)
            if self._gather_until == self._gather_limit and not self._awaited():
                self._begin(now_us)
        elif member is None:
            self.members[peer.name] = Member(body.topics, body.links, incarnation, now_us)
            self._log_member(JOINED, peer.name, "joined", body.topics)
            name, topics, takes_us = peer.name, body.topics, self.settings.join_takes_us
            self._decide(now_us, takes_us, lambda: self.maintenance.join(name, topics))
        else:
            self._heard_again(now_us, peer.name, member, incarnation, body)

    def _heard_again(
        self, now_us: int, name: str, member: Member, incarnation: int, body: TopicInterest
    ) -> None:
        """The stream was redialled, the broker restarted, or its interests changed."""
        restarted = member.incarnation != incarnation
        changed = member.topics != frozenset(body.topics)
        member.incarnation, member.topics = incarnation, frozenset(body.topics)
        member.up, member.ordered = frozenset(body.links), None
        if changed:
            detail = "returned with other topics" if restarted else "other topics"
            self._log_member(JOINED, name, detail, body.topics)
            takes_us = self.settings.leave_takes_us + self.settings.join_takes_us
            self._decide(now_us, takes_us, lambda: self.maintenance.change(name, body.topics))
        else:
            if restarted:
                self._log_member(JOINED, name, "returned", body.topics)
            self._order_all(now_us)

    def _reported(self, now_us: int, member: Member | None, body: OverlayReport) -> None:
        if member is not None:
            member.up = frozenset(body.links)
            self._look(now_us)

    # ------------------------------------------------------------ rounds

    def _awaited(self) -> set[str]:
        """Brokers that others hold links to, but that have not been heard."""
        return {other for member in self.members.values() for other in member.up} - self.members.keys()

    def _gather_again(self, now_us: int) -> None:
        """A broker of an overlay that was never heard of: with nothing to do with the rest of it, perhaps."""
        self._begun = False
        self._computing.forget()  # all of it is decided anew, from who is there
        self._gather_until = self._gather_limit = now_us + self._patience_us()

    def _patience_us(self) -> int:
        return self.options.redial_max_us + self.settings.heartbeat_timeout_us

    def _gathered(self, now_us: int) -> None:
        if self._awaited() and now_us < self._gather_limit:
            self._gather_until = self._gather_limit
        else:
            self._begin(now_us)

    def _begin(self, now_us: int) -> None:
        """What the brokers hold is the overlay; what is missing is added."""
        self._gather_until = None
        self._begun = True
        held = {link(name, other) for name, member in self.members.items() for other in member.up}
        interests = {name: member.topics for name, member in self.members.items()}
        self._decided(now_us, self.maintenance.begin(interests, held))

    def _leave(self, now_us: int, name: str, detail: str) -> None:
        silent = now_us - self.members.pop(name).heard_us
        self._log_member(LEFT, name, detail, (), silent)
        if self._begun:
            self._decide(now_us, self.settings.leave_takes_us, lambda: self.maintenance.leave(name))

    def _decide(self, now_us: int, takes_us: int, decide: Decide) -> None:
        self._computing.begin(now_us, takes_us, decide)
        self._decide_what_is_due(now_us)

    def _decide_what_is_due(self, now_us: int) -> None:
        while (decide := self._computing.done(now_us)) is not None:
            self._decided(now_us, decide())

    def _decided(self, now_us: int, round_: Round) -> None:
        before, self._target = self._target, self.maintenance.links()
        kept = {pair for pair in before | self._retiring if self._both_here(pair)}
        self._retiring = kept - self._target
        content = msgspec.json.encode(round_).decode()
        self.log(LogEvent(kind=REPAIRED, peer=round_.broker, detail=round_.kind, content=content))
        self._order_all(now_us)

    def _both_here(self, pair: Link) -> bool:
        return pair[0] in self.members and pair[1] in self.members

    def _wanted(self) -> set[Link]:
        """Those that brokers shall hold. Who has left since a decision is in it until the next is made."""
        pairs = self._target | self._retiring
        return {pair for pair in pairs if self._both_here(pair)} if self._computing else pairs

    def _order_all(self, now_us: int) -> None:
        self._send_orders()
        if self._broken_since is None:
            self._broken_since = now_us
        self._look(now_us)

    def _send_orders(self) -> None:
        """To every broker whose links change: all that it shall hold."""
        lists: dict[str, list[str]] = {name: [] for name in self.members}
        for a, b in self._wanted():
            lists[a].append(b)
            lists[b].append(a)
        for name in sorted(lists):
            member, wanted = self.members[name], tuple(sorted(lists[name]))
            if member.ordered != wanted and name in self.links.brokers:
                member.ordered = wanted
                self._epoch += 1
                self.send(name, OverlayOrder(self._epoch, wanted))

    def _look(self, now_us: int) -> None:
        """Are all decided links up, as both ends say?"""
        if not self._begun:
            return
        whole = not self._computing and all(self._is_up(pair) for pair in self._target) and self._all_told()
        if not whole and self._broken_since is None:
            self._broken_since = now_us
        elif whole and self._broken_since is not None:
            self.log(LogEvent(kind=OVERLAY_UP, duration_us=now_us - self._broken_since))
            self._broken_since = None
            if self._retiring:
                self._retiring = set()
                self._send_orders()

    def _is_up(self, pair: Link) -> bool:
        a, b = pair
        return b in self.members[a].up and a in self.members[b].up

    def _all_told(self) -> bool:
        return all(member.ordered is not None for member in self.members.values())

    def _log_member(
        self, kind: str, name: str, detail: str, topics: Iterable[str] = (), silent_us: int = 0
    ) -> None:
        event = LogEvent(peer=name, detail=detail, content=" ".join(sorted(topics)), duration_us=silent_us)
        event.kind = kind  # type: ignore[assignment]
        self.log(event)

    # ------------------------------------------------------------ peers and time

    def _up(self, peer: Peer) -> None:
        if not self._begun and self._gather_until is None and peer.kind == "broker":
            self._gather_until = self.now_us + self.settings.gather_us
            self._gather_limit = self._gather_until + self._patience_us()

    def _next_us(self) -> int | None:
        silent = min((member.heard_us for member in self.members.values()), default=None)
        due = [] if silent is None else [silent + self.settings.heartbeat_timeout_us]
        due += [at for at in (self._gather_until, self._computing.next_us()) if at is not None]
        return min(due, default=None)

    def _run_due(self, now_us: int) -> None:
        self._decide_what_is_due(now_us)
        limit = now_us - self.settings.heartbeat_timeout_us
        for name in sorted(name for name, member in self.members.items() if member.heard_us <= limit):
            self._leave(now_us, name, "no heartbeat")
        if self._gather_until is not None and self._gather_until <= now_us:
            self._gathered(now_us)

    # ------------------------------------------------------------ questions

    def _synced(self) -> dict[str, bool]:
        """A link to a broker counts as synchronised when all that the broker shall hold is up."""
        here = self._target & self._wanted()
        late = {end for pair in here if not self._is_up(pair) for end in pair}
        waiting = not self._begun or self._broken_since is not None or bool(self._computing)
        return {
            name: not waiting and name in self.members and name not in late
            for name in sorted(self.links.brokers)
        }
