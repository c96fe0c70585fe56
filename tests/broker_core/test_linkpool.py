"""Links on demand: dials, what waits for them, what comes back, and who closes."""

from __future__ import annotations

from broker_grpc.core.linkpool import LinkPool, PoolLimits
from broker_grpc.core.links import Links
from broker_grpc.core.monitor import Monitor
from broker_grpc.core.outbox import Outbox
from broker_grpc.machine import CloseLink, Effect, Log, OpenLink, Send
from protos.body import Envelope
from protos.core_messages import Heartbeat

LIMITS = PoolLimits(idle_us=100, patience_us=50, waiting=2)


class Pool:
    """A pool with its outbox; `step` gives the effects since the last one."""

    def __init__(self) -> None:
        self.links = Links()
        self.outbox = Outbox("A", self.links, Monitor(0), None)
        self.back: list[tuple[str, int]] = []
        addresses = {"B": "b:1", "C": "c:1"}
        self.pool = LinkPool(self.outbox, self.links, addresses, LIMITS, self._undelivered)
        self.outbox.begin(0)

    def _undelivered(self, peer: str, envelope: Envelope) -> None:
        self.back.append((peer, envelope.body.sequence))  # type: ignore[attr-defined]

    def send(self, peer: str, number: int) -> None:
        self.pool.send(peer, Envelope(Heartbeat(number), 1))

    def up(self, peer: str) -> None:
        self.links.up(peer, "broker", 1)
        self.pool.peer_up(peer)

    def down(self, peer: str) -> None:
        self.links.down(peer)
        self.pool.peer_down(peer)

    def at(self, now_us: int) -> list[Effect]:
        """What was done before; then it is that late."""
        done = list(self.outbox.effects)
        self.outbox.begin(now_us)
        due = self.pool.next_deadline_us()
        if due is not None and due <= now_us:
            self.pool.deadline(now_us)
        return done


def opened(effects: list[Effect]) -> list[str]:
    return [effect.peer for effect in effects if isinstance(effect, OpenLink)]


def closed(effects: list[Effect]) -> list[tuple[str, str]]:
    return [(effect.peer, effect.reason) for effect in effects if isinstance(effect, CloseLink)]


def sent(effects: list[Effect]) -> list[tuple[str, int]]:
    return [(one.peer, one.envelope.body.sequence) for one in effects if isinstance(one, Send)]  # type: ignore[attr-defined]


def dropped(effects: list[Effect]) -> list[str]:
    return [one.event.detail for one in effects if isinstance(one, Log) and one.event.kind == "DROPPED"]


def test_a_message_waits_for_its_dial_and_order_is_kept() -> None:
    pool = Pool()
    pool.send("B", 1)
    pool.send("B", 2)
    done = pool.at(10)
    assert opened(done) == ["B"]
    assert sent(done) == []
    assert pool.pool.waiting == 2
    assert pool.pool.reasons("B") == ["one message"]
    pool.up("B")
    pool.send("B", 3)
    assert sent(pool.at(20)) == [("B", 1), ("B", 2), ("B", 3)]
    assert (pool.pool.dials, pool.pool.sent_later, pool.pool.sent_at_once) == (1, 2, 1)


def test_a_queue_has_an_end_and_an_unknown_broker_no_queue() -> None:
    pool = Pool()
    for number in range(3):
        pool.send("B", number)
    pool.send("nobody", 1)
    assert dropped(pool.at(1)) == ["too many messages wait for this link", "no address is known"]


def test_what_waited_too_long_comes_back_and_the_dial_is_withdrawn() -> None:
    pool = Pool()
    pool.send("B", 1)
    pool.at(49)
    assert pool.back == []
    pool.at(50)
    assert pool.back == [("B", 1)]
    assert closed(pool.at(51)) == [("B", "no link within the patience of the pool")]
    assert pool.pool.next_deadline_us() is None


def test_the_dial_of_a_wanted_link_is_not_withdrawn() -> None:
    pool = Pool()
    pool.pool.demand("ring", {"B": "leaf"})
    pool.send("B", 1)
    pool.at(50)
    assert pool.back == [("B", 1)]
    assert closed(pool.at(51)) == []


def test_a_link_that_nobody_wants_is_closed_when_it_was_idle_long_enough() -> None:
    pool = Pool()
    pool.send("B", 1)
    pool.up("B")  # idle from 0 on
    pool.at(60)
    pool.send("B", 2)  # and from 60 on
    pool.at(100)
    assert closed(pool.at(159)) == []
    pool.at(160)
    assert closed(pool.at(161)) == [("B", "idle")]


def test_a_link_has_as_many_reasons_as_owners_and_stays_for_the_last() -> None:
    pool = Pool()
    pool.pool.demand("ring", {"B": "finger"})
    pool.pool.demand("tree", {"B": "child"})
    pool.up("B")
    assert pool.pool.reasons("B") == ["child", "finger"]
    pool.pool.demand("ring", {})
    pool.at(500)
    assert closed(pool.at(501)) == []
    pool.pool.demand("tree", {"C": "parent"})
    assert opened(pool.at(700)) == ["C"]
    assert closed(pool.at(701)) == [("B", "idle")]


def test_only_who_dialled_closes() -> None:
    pool = Pool()
    pool.up("B")  # dialled by B
    pool.pool.demand("ring", {"B": "leaf"})
    pool.pool.demand("ring", {})
    pool.at(1000)
    done = pool.at(1001)
    assert (opened(done), closed(done)) == ([], [])


def test_a_wanted_link_that_the_other_closed_is_dialled() -> None:
    pool = Pool()
    pool.up("B")
    pool.pool.demand("ring", {"B": "leaf"})
    pool.down("B")
    assert opened(pool.at(1)) == ["B"]
    assert pool.pool.missing() == ["B"]


def test_what_waits_for_a_dead_broker_comes_back_at_once() -> None:
    pool = Pool()
    pool.send("B", 1)
    pool.pool.give_up("B")
    assert pool.back == [("B", 1)]
    assert [peer for peer, _ in closed(pool.at(1))] == ["B"]
