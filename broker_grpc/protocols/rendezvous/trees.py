"""The trees of one plane, as one broker takes part in them: messages, heartbeats, repair, the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import msgspec

from broker_grpc.errors import LimitExceeded, ProtocolError
from broker_grpc.protocols.rendezvous.growth import Growth, Messages
from broker_grpc.protocols.rendezvous.kinds import TREE_CHANGED
from broker_grpc.protocols.rendezvous.liveness import Liveness
from broker_grpc.protocols.rendezvous.reverse_path import ReversePath
from broker_grpc.protocols.rendezvous.settings import RendezvousSettings
from broker_grpc.protocols.rendezvous.table import Topic, TopicTable
from broker_grpc.protocols.rendezvous.top_down import TopDown
from broker_grpc.protocols.ring.substrate import Substrate
from protos.body import Body, Envelope
from protos.records import LogEvent
from protos.rendezvous_messages import (
    TreeAttach,
    TreeDetach,
    TreeHandover,
    TreeHeartbeat,
    TreeJoin,
    TreeLeave,
    TreePrune,
)

MAX_NAME = 1024  # characters of a topic
ROUTED = (TreeJoin, TreeAttach, TreeLeave)
Seen = tuple[str, bool, bool, tuple[str, ...]]  # parent, root, subscribed, children
NOWHERE: Seen = ("", False, False, ())


class TreeHost(Protocol):
    """What trees may do: the broker that holds them."""

    @property
    def id(self) -> str: ...

    @property
    def now_us(self) -> int: ...

    def post(self, peer: str, envelope: Envelope) -> None:
        """To any broker: over its link, or when one is up."""

    def log(self, event: LogEvent) -> None: ...

    def demand_trees(self, plane: int, wanted: dict[str, str]) -> None:
        """Links that these trees need, each with its reason (`parent`, `child`); replaces the last ones."""


class Trees:
    """`Place` and `RingListener` of one plane."""

    def __init__(self, host: TreeHost, ring: Substrate, settings: RendezvousSettings) -> None:
        self.table = TopicTable()
        self._host = host
        self._ring = ring
        self._settings = settings
        self._growth: Growth = ReversePath(self) if settings.grow == "reverse_path" else TopDown(self)
        self._liveness = Liveness(settings, ring.plane)
        self._seen: dict[str, Seen] = {}  # what the log has of each topic
        self._parents: Counter[str] = Counter()
        self._children: Counter[str] = Counter()
        self._demanded: dict[str, str] = {}
        self._unplaced: dict[str, int] = {}  # topic without its place -> when to ask again
        self._beat_at: int | None = None
        self._look_at_all = False
        self._placed_as = ring.me.id  # others know this broker's places by this id
        self._hops = 0  # of the message that is being handled
        self._actions: dict[type[Body], Callable[[str, Any], Messages]] = {
            TreeJoin: self._joined,
            TreeAttach: self._attached,
            TreeLeave: self._left,
            TreeDetach: self._detached,
            TreeHandover: self._handed_over,
            TreePrune: self._pruned,
        }
        ring.listeners.append(self)

    # ------------------------------------------------------------ the place

    @property
    def broker(self) -> str:
        return self._host.id

    @property
    def ring_id(self) -> int:
        return self._ring.me.id

    @property
    def number(self) -> int:
        return self._ring.plane

    def next_hop(self, key: int) -> str | None:
        return self._ring.next_hop(key)

    # ------------------------------------------------------------ interests and publications

    def subscribe(self, name: str) -> None:
        topic = self.table.take(name)
        if not topic.subscribed:
            if self._ring.joined:
                return self._do(topic, self._growth.subscribe(topic))
            topic.subscribed = True
            self._note(name)

    def unsubscribe(self, name: str) -> None:
        topic = self.table.get(name)
        if topic is not None and topic.subscribed:
            self._do(topic, self._growth.unsubscribe(topic))

    def assert_interest(self, name: str, wanted: bool, again: bool) -> None:
        """Ask or leave where this broker's place is not what is wanted; `again`: also where it seems so."""
        topic = self.table.get(name)
        has = topic is not None and topic.subscribed
        if wanted and (again or topic is None or not (has and topic.attached)):
            topic = self.table.take(name)
            topic.attached = False
            self._do(topic, self._growth.subscribe(topic))
        elif not wanted and (has or again):
            self._do(None, self._growth.unsubscribe(self.table.take(name)), name)

    def take_over(self, topics: Iterable[Topic]) -> None:
        """The places of another broker, in place of what is known here. They fit the ring as it is now."""
        self._look_at_all, self._placed_as = False, self.ring_id
        for topic in self.table:
            self.table.drop(topic)
            self._note(topic.name)
        for topic in topics:
            self.table.put(topic)
            self._note(topic.name)

    def came_down(self, name: str, source: str) -> bool:
        """A publication from a broker. False: this broker is not in the tree, and the sender is told so."""
        topic = self.table.get(name)
        if topic is None:
            self._post(source, TreePrune(self.number, name))
            return False
        self._liveness.heard(name, source, self._host.now_us)
        return True

    def children(self, name: str, source: str) -> list[str]:
        """To whom a publication goes from here."""
        topic = self.table.get(name)
        if topic is None or not topic.children:
            return []
        self._liveness.published(name, self._host.now_us)
        return sorted(topic.children - {source, topic.parent})

    # ------------------------------------------------------------ messages

    def received(self, peer: str, envelope: Envelope) -> bool:
        """False: no message of trees. Raises BrokerError for one that is refused."""
        body = envelope.body
        if body.__class__ is TreeHeartbeat:
            self._beaten(peer, body)
            return True
        action = self._actions.get(body.__class__)
        if action is None:
            return False
        name: str = body.topic  # type: ignore[attr-defined]
        if not name or len(name) > MAX_NAME:
            raise ProtocolError(f"a topic of {len(name)} characters")
        self._hops = envelope.hops
        try:
            messages = action(peer, body)
            self._do(self.table.get(name), messages, name)
        finally:
            self._hops = 0
        return True

    def _taken(self, body: TreeJoin | TreeAttach | TreeLeave) -> Topic:
        """Raises BrokerError for one that cannot be."""
        if not body.member:
            raise ProtocolError(f"a {body.type} without a member")
        if self._hops > self._settings.ring.hop_limit:
            raise ProtocolError(f"a {body.type} went over {self._hops} links")
        if len(self.table) >= self._settings.max_topics and self.table.get(body.topic) is None:
            raise LimitExceeded(f"{self.broker} is in {len(self.table)} trees")
        return self.table.take(body.topic)

    def _joined(self, peer: str, body: TreeJoin) -> Messages:
        self._liveness.heard(body.topic, peer, self._host.now_us)
        return self._growth.joined(peer, self._taken(body), body.member, body.member_id)

    def _attached(self, peer: str, body: TreeAttach) -> Messages:
        self._liveness.heard(body.topic, peer, self._host.now_us)
        return self._growth.attached(peer, self._taken(body), body.member, body.member_id)

    def _left(self, peer: str, body: TreeLeave) -> Messages:
        return self._growth.left(peer, self._taken(body), body.member, body.member_id)

    def _detached(self, peer: str, body: TreeDetach) -> Messages:
        topic = self.table.get(body.topic)
        return self._growth.detached(peer, topic, body.member) if topic is not None else []

    def _handed_over(self, peer: str, body: TreeHandover) -> Messages:
        topic = self.table.get(body.topic)
        mine = topic is not None and topic.parent == peer
        return self._growth.lost_parent(topic, body.parent) if mine and topic is not None else []

    def _pruned(self, peer: str, body: TreePrune) -> Messages:
        topic = self.table.get(body.topic)
        mine = topic is not None and peer in topic.children
        return self._growth.lost_child(topic, peer) if mine and topic is not None else []

    def _beaten(self, peer: str, beat: TreeHeartbeat) -> None:
        """Only notes it, but for what the sender has wrong: no deadline hangs on heartbeats."""
        now_us = self._host.now_us
        for name in beat.topics:
            topic = self.table.get(name)
            is_mine = topic is not None and (peer in topic.children if beat.up else peer == topic.parent)
            if is_mine:
                self._liveness.heard(name, peer, now_us)
            elif beat.up:
                self._post(peer, TreeHandover(self.number, name))
            else:
                self._post(peer, TreePrune(self.number, name))

    # ------------------------------------------------------------ the ring

    def responsibility_moved(self) -> None:
        self._look_at_all = True

    def ring_changed(self) -> None:
        """Routes may have changed."""
        self._look_at_all = True

    def replaced(self, old: str, new: str | None) -> None:
        self._lost(old)
        self._look_at_all = True

    def peer_up(self, peer: str) -> None:
        self._liveness.link_up(peer)

    def peer_down(self, peer: str) -> None:
        if self._parents[peer] or self._children[peer]:
            self._liveness.link_down(peer, self._host.now_us)

    def _lost(self, peer: str) -> None:
        if not (self._parents[peer] or self._children[peer]):
            return
        for topic in self.table:
            if peer in topic.children:
                self._do(topic, self._growth.lost_child(topic, peer))
            if topic.parent == peer:
                self._do(topic, self._growth.lost_parent(topic, ""))

    # ------------------------------------------------------------ time

    def next_deadline_us(self) -> int | None:
        if self._look_at_all:
            return 0
        due = (self._beat_at, self._liveness.next_lost_us(), min(self._unplaced.values(), default=None))
        return min((at for at in due if at is not None), default=None)

    def deadline(self, now_us: int) -> None:
        if self._look_at_all:
            self._look_at_all = False
            self._leave_old_id()
            self._look(list(self.table))
        for peer in self._liveness.cut_off(now_us):
            self._lost(peer)
        waiting = [name for name, at in sorted(self._unplaced.items()) if at <= now_us]
        for name in waiting:
            del self._unplaced[name]
        self._look([topic for name in waiting if (topic := self.table.get(name)) is not None])
        if self._beat_at is not None and self._beat_at <= now_us:
            self._beat(now_us)

    def _leave_old_id(self) -> None:
        """A broker with another id has another place in every tree; it left the old ones with its ring."""
        if self._ring.joined and self._placed_as != self.ring_id:
            self._placed_as = self.ring_id
            for topic in self.table:
                self._do(topic, self._growth.lost_parent(topic, ""))

    def _look(self, topics: list[Topic]) -> None:
        """Without a ring there is no place for any: they are looked at again."""
        for topic in topics:
            self._do(topic, self._growth.look(topic) if self._ring.joined else [])

    def _beat(self, now_us: int) -> None:
        self._beat_at = now_us + self._settings.heartbeat_interval_us if len(self.table) else None
        self._look(list(self.table))
        for topic in self.table:
            self._drop_silent(topic, now_us)
        for peer, beat in self._liveness.due(self.table, now_us):
            self._post(peer, beat)

    def _drop_silent(self, topic: Topic, now_us: int) -> None:
        silent = self._liveness.is_silent
        for child in sorted(topic.children):
            if silent(topic, child, False, now_us):
                self._do(topic, self._growth.lost_child(topic, child))
        if topic.parent and silent(topic, topic.parent, True, now_us):
            self._do(topic, self._growth.lost_parent(topic, ""))

    def farewell(self) -> None:
        for topic in self.table:
            for peer, body in self._growth.farewell(topic):
                self._post(peer, body)

    # ------------------------------------------------------------ out

    def _do(self, topic: Topic | None, messages: Messages, name: str = "") -> None:
        for peer, body in messages:
            self._post(peer, body)
        self._note(topic.name if topic is not None else name)

    def _post(self, peer: str, body: Body) -> None:
        hops = self._hops + 1 if isinstance(body, ROUTED) else 1
        self._host.post(peer, Envelope(body, hops))

    def _note(self, name: str) -> None:
        """What has changed is told: the log, the link pool, and when to ask again."""
        topic = self.table.get(name)
        now_us = self._host.now_us
        if topic is not None and not topic.placed:
            self._unplaced.setdefault(name, now_us + self._settings.retry_us)
        else:
            self._unplaced.pop(name, None)
        if topic is not None and self._beat_at is None:
            self._beat_at = now_us + self._settings.heartbeat_interval_us
        old = self._seen.get(name, NOWHERE)
        new: Seen = NOWHERE
        if topic is not None:
            new = topic.parent, topic.root, topic.subscribed, tuple(sorted(topic.children))
        if new != old:
            self._tell(name, old, new)

    def _tell(self, name: str, old: Seen, new: Seen) -> None:
        if new == NOWHERE:
            del self._seen[name]
        else:
            self._seen[name] = new
        content = {"children": new[3], "root": new[1], "subscribed": new[2], "plane": self.number}
        text = msgspec.json.encode(content).decode()
        self._host.log(LogEvent(kind=TREE_CHANGED, message=name, peer=new[0], content=text))
        self._liveness.forget(name, {old[0], *old[3]} - {new[0], *new[3]})
        self._parents.subtract((old[0],))
        self._parents.update((new[0],))
        self._children.subtract(old[3])
        self._children.update(new[3])
        wanted = self.wanted()
        if wanted != self._demanded:
            self._demanded = wanted
            self._host.demand_trees(self.number, wanted)

    def wanted(self) -> dict[str, str]:
        wanted = {peer: "child" for peer in +self._children}
        wanted |= {peer: "parent" for peer in +self._parents if peer}
        return dict(sorted(wanted.items()))

    @property
    def settled(self) -> bool:
        return not self._unplaced and not self._look_at_all
