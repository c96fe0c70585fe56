"""A broker's part in the reconfiguration protocol (section 5.1.2).

    RCFG_INIT       a second ring; a copy of this position's trees, by ids
    RCFG_OVERLAY    the second ring has the new ids
    RCFG_PUBSUB 1   who has changed its position sends the copy to whoever has it now; all lay theirs out
    RCFG_PUBSUB 2   trees and subscriptions are compared; joins and leaves in the second plane
    RCFG_FINISH     publications of clients are routed in the second plane
    RCFG_RETIRE     the first one goes when nothing can be under way in it any more

Until part 2 the second plane is `forming`: it takes part in nothing. From then on (un)subscriptions are
applied to both. What changed between the copy and part 2, or so shortly before that its messages may have
been under way when others made their copies, is asked for or left again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from broker_grpc.core.links import Peer
from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.dynatops import configuration as who
from broker_grpc.protocols.dynatops.kinds import PLANE_CHANGED
from broker_grpc.protocols.dynatops.logical import logical, parts_of, restored
from broker_grpc.protocols.dynatops.steps import Step
from broker_grpc.protocols.rendezvous.plane import Plane
from broker_grpc.protocols.ring.static import StaticRing
from protos.body import Body, Envelope
from protos.dynatops_messages import (
    LogicalTopic,
    RcfgAbort,
    RcfgAdopt,
    RcfgDone,
    RcfgFinish,
    RcfgInit,
    RcfgOverlay,
    RcfgPubsub,
    RcfgRetire,
    RcfgStatus,
    TopicTableTransfer,
)
from protos.records import LogEvent

if TYPE_CHECKING:
    from broker_grpc.protocols.dynatops.broker import DynatopsBroker

MANY = 1_000
UNDER_WAY_US = 10_000_000  # a message of trees that is older has arrived, or is lost


class Next:
    """The version that is being made."""

    def __init__(self, version: int, plane: Plane, table: tuple[LogicalTopic, ...]) -> None:
        self.version = version
        self.plane = plane
        self.table = table  # the copy
        self.step = Step.INIT  # done
        self.ordered = Step.INIT
        self.parts: dict[int, tuple[LogicalTopic, ...]] = {}
        self.messages = 0


class Changing:
    def __init__(self, broker: DynatopsBroker) -> None:
        self._broker = broker
        self.configurations: dict[int, who.Configuration] = {}  # by version
        self.next: Next | None = None
        self.latest = 0
        self._touched: dict[str, int] = {}  # topic -> when the own interest in it changed last
        self._closing: dict[int, int] = {}  # version -> closed at

    # ------------------------------------------------------------ questions

    @property
    def version(self) -> int:
        return self._broker.plane

    @property
    def forming(self) -> Plane | None:
        """The plane that takes part in nothing yet."""
        next_ = self.next
        return next_.plane if next_ is not None and next_.version not in self._broker.planes else None

    @property
    def settled(self) -> bool:
        return self.next is None

    def status(self) -> RcfgStatus:
        brokers, ids = who.told(self.configurations[self.version])
        next_ = self.next
        if next_ is None:
            return RcfgStatus(self.version, self.latest, 0, 0, brokers, ids)
        return RcfgStatus(self.version, self.latest, next_.version, next_.step, brokers, ids)

    def touched(self, topics: Iterable[str]) -> None:
        """This broker's place in their trees has just changed."""
        self._touched |= dict.fromkeys(topics, self._broker.now_us)
        if self.next is None and len(self._touched) > MANY:
            self._forget_old()

    def _forget_old(self) -> None:
        since = self._broker.now_us - UNDER_WAY_US
        self._touched = {topic: at for topic, at in self._touched.items() if at > since}

    def sent(self, version: int) -> None:
        """A message for this version that is no publication and no heartbeat."""
        if self.next is not None and self.next.version == version:
            self.next.messages += 1

    # ------------------------------------------------------------ orders

    def ordered(self, peer: Peer, envelope: Envelope, body: Body) -> bool:
        """False: no message of this protocol."""
        match body:
            case TopicTableTransfer():
                self._transferred(peer, envelope, body)
            case RcfgInit():
                self._check(peer)
                self._init(body)
            case RcfgOverlay():
                self._of(peer, body.version, Step.OVERLAY)
                self._overlay(body)
            case RcfgPubsub(version=version, part=1):
                self._of(peer, version, Step.RESTORE)
                self._restore()
            case RcfgPubsub(version=version, part=2):
                self._of(peer, version, Step.REPAIR)
                self._repair()
            case RcfgFinish():
                self._check(peer)
                self._finish(body.version)
            case RcfgRetire():
                self._check(peer)
                self._retire(body.version)
            case RcfgAbort():
                self._check(peer)
                self._abort(body.version)
            case RcfgAdopt():
                self._check(peer)
                self._adopt(body)
            case _:
                return False
        return True

    def _check(self, peer: Peer) -> None:
        if peer.name != self._broker.settings.manager:
            raise ProtocolError(f"{peer.name} is not the manager")

    def _of(self, peer: Peer, version: int, step: Step) -> None:
        self._check(peer)
        next_ = self.next
        if next_ is None or next_.version != version or next_.step < step - 1:
            self._done(version, step, "it is not being made here")
            raise ProtocolError(f"step {step.name} of version {version}, which is not so far here")
        next_.ordered = max(next_.ordered, step)

    def _done(self, version: int, step: Step, error: str = "") -> None:
        next_ = self.next
        messages = next_.messages if next_ is not None and next_.version == version else 0
        self._broker.send(self._broker.settings.manager, RcfgDone(version, step, messages, error))

    # ------------------------------------------------------------ the steps

    def _init(self, order: RcfgInit) -> None:
        broker, version = self._broker, order.version
        if self.next is not None and self.next.version == version:
            return self._done(version, Step.INIT)
        if order.base != self.version or version in broker.planes:
            return self._done(version, Step.INIT, f"version {self.version} is in use here")
        self._forget_next()
        self._forget_old()
        self.latest = max(self.latest, version)
        base = self.configurations[order.base]
        self.configurations[version] = base
        table = logical(broker.planes[order.base].trees.table, base)
        plane = broker.opened(version)
        self.next = Next(version, plane, table)
        self._log(version, "opened")
        self._done(version, Step.INIT)

    def _overlay(self, order: RcfgOverlay) -> None:
        next_ = self.next
        assert next_ is not None
        if next_.step < Step.OVERLAY:
            base = self.configurations[self.version]
            self.configurations[next_.version] = who.changed(base, order.brokers, order.ids)
            ring = next_.plane.ring
            assert isinstance(ring, StaticRing)
            ring.replace(who.members(self.configurations[next_.version]))
            next_.step = Step.OVERLAY
        self._done(next_.version, Step.OVERLAY)

    def _restore(self) -> None:
        """Ordered again, the table is sent again: it may have been lost."""
        next_, broker = self.next, self._broker
        assert next_ is not None
        old = self.configurations[self.version][broker.id]
        if self.configurations[next_.version][broker.id] == old:
            self._lay_out(next_, next_.table)
        else:
            parts = parts_of(next_.table)
            for number, topics in enumerate(parts):
                self._pass_on(next_, TopicTableTransfer(next_.version, old, number, len(parts), topics), 0)
        if next_.step >= Step.RESTORE:
            self._done(next_.version, Step.RESTORE)

    def _transferred(self, peer: Peer, envelope: Envelope, transfer: TopicTableTransfer) -> None:
        next_ = self.next
        if next_ is None or next_.version != transfer.version or next_.step < Step.OVERLAY:
            raise ProtocolError(f"version {transfer.version} is not so far here")
        if envelope.hops > self._broker.settings.ring.hop_limit:
            raise ProtocolError(f"a {transfer.type} went over {envelope.hops} links")
        self._pass_on(next_, transfer, envelope.hops)

    def _pass_on(self, next_: Next, transfer: TopicTableTransfer, hops: int) -> None:
        """By the key, in the new ring; the sender need not know who has the position."""
        hop = next_.plane.ring.next_hop(transfer.key)
        if hop is not None:
            next_.messages += 1
            return self._broker.post(hop, Envelope(transfer, hops + 1))
        if next_.step >= Step.RESTORE or transfer.key != next_.plane.ring.me.id:
            return
        next_.parts[transfer.number] = transfer.topics
        if all(number in next_.parts for number in range(transfer.parts)):
            whole = [topic for number in sorted(next_.parts) for topic in next_.parts[number]]
            self._lay_out(next_, tuple(whole))
            if next_.ordered >= Step.RESTORE:
                self._done(next_.version, Step.RESTORE)

    def _lay_out(self, next_: Next, table: tuple[LogicalTopic, ...]) -> None:
        if next_.step < Step.RESTORE:
            names = {id_: broker for broker, id_ in self.configurations[next_.version].items()}
            next_.plane.trees.take_over(restored(table, names))
            next_.step = Step.RESTORE
            next_.parts.clear()

    def _repair(self) -> None:
        next_ = self.next
        assert next_ is not None
        self.take_part()
        if next_.step >= Step.REPAIR:
            self._done(next_.version, Step.REPAIR)

    def take_part(self) -> bool:
        """Part 2 begins here: by the manager's word, or by that of a broker that has heard it. From now on
        the plane is one like any other. False: the trees are not laid out."""
        next_, broker = self.next, self._broker
        if next_ is None or next_.step < Step.RESTORE:
            return False
        if next_.version not in broker.planes:
            broker.planes[next_.version] = next_.plane
            self._compare(next_.plane)
        return True

    def _compare(self, plane: Plane) -> None:
        """Section 3.2: wrong participation is left, missing one asked for."""
        subscribed = self._broker.interests.subscribed()
        unsure = set(self._touched)
        for topic in sorted({one.name for one in plane.trees.table} | subscribed | unsure):
            plane.trees.assert_interest(topic, topic in subscribed, topic in unsure)

    def _finish(self, version: int) -> None:
        broker, next_ = self._broker, self.next
        if version != self.version:
            if next_ is None or next_.version != version or next_.step < Step.REPAIR:
                return self._done(version, Step.FINISH, "it is not whole here")
            broker.plane = version
            next_.step = Step.FINISH
            self._log(version, "default")
        self._done(version, Step.FINISH)

    def _retire(self, version: int) -> None:
        if version != self.version:
            return self._done(version, Step.RETIRE, f"version {self.version} is in use here")
        self._done(version, Step.RETIRE)
        self.next = None
        self._close_others()

    def _close_others(self) -> None:
        for number in self._broker.planes:
            if number != self.version:
                self._closing.setdefault(number, self._broker.now_us + self._broker.settings.linger_us)

    def _abort(self, version: int) -> None:
        next_ = self.next
        self.latest = max(self.latest, version)
        if version == self.version:
            return self._done(version, Step.ABORT, "it is in use here")
        self._done(version, Step.ABORT)
        if next_ is not None and next_.version == version:
            self._forget_next()

    def _forget_next(self) -> None:
        next_, self.next = self.next, None
        if next_ is not None and next_.version != self.version:
            self._close(next_.version)

    def _adopt(self, order: RcfgAdopt) -> None:
        """This broker knows nothing of the version in use: it joins all its trees anew."""
        broker = self._broker
        if order.version != self.version:
            self._forget_next()
            self._closing.pop(order.version, None)
            self.latest = max(self.latest, order.version)
            base = who.by_themselves(self.configurations[self.version])
            self.configurations[order.version] = who.changed(base, order.brokers, order.ids)
            plane = broker.planes[order.version] = broker.opened(order.version)
            for topic in sorted(broker.interests.subscribed()):
                plane.trees.subscribe(topic)
            broker.plane = order.version
            self._log(order.version, "adopted")
            self._close_others()
        self._done(order.version, Step.FINISH)

    # ------------------------------------------------------------ time

    def next_deadline_us(self) -> int | None:
        next_ = self.next
        if next_ is not None and next_.step == Step.RESTORE and self._is_repaired(next_):
            return 0
        return min(self._closing.values(), default=None)

    def deadline(self, now_us: int) -> None:
        next_ = self.next
        if next_ is not None and next_.step == Step.RESTORE and self._is_repaired(next_):
            next_.step = Step.REPAIR
            if next_.ordered >= Step.REPAIR:
                self._done(next_.version, Step.REPAIR)
        for version in sorted(version for version, at in self._closing.items() if at <= now_us):
            self._close(version)

    def _is_repaired(self, next_: Next) -> bool:
        return next_.version in self._broker.planes and next_.plane.settled

    def _close(self, version: int) -> None:
        self._closing.pop(version, None)
        self.configurations.pop(version, None)
        self._broker.closed(version)
        self._log(version, "closed")

    def _log(self, version: int, what: str) -> None:
        configuration = self.configurations.get(version)
        content = {"id": configuration[self._broker.id] if configuration else None}
        event = LogEvent(kind=PLANE_CHANGED, type=what, message=str(version))
        event.content = msgspec.json.encode(content).decode()
        self._broker.log(event)
