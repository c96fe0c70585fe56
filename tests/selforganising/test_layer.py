"""The layer on a broker: bad cases are refused with a record, and start nothing."""

from __future__ import annotations

import math

import pytest

from broker_grpc.core.config import BrokerProcessConfig
from broker_grpc.machine import DeadlineReached, Effects, Log, PeerUp, Received, Send, unfolded
from broker_grpc.registry import machine_of
from protos.body import Body, Envelope
from protos.selforganising_messages import InterestBroadcast, LinkRequest, Passed

BITS = 64
FILTER = bytes(BITS // 8)


class Host:
    """A broker B2 with neighbours B1 and B3."""

    def __init__(self, **settings: object) -> None:
        algorithm = {"name": "ci", "filter_bits": BITS, "interval_us": 1000, **settings}
        self.machine = machine_of(BrokerProcessConfig("B2", "", algorithm=algorithm, seed=1))
        for name in ("B1", "B3"):
            self.machine.handle(1, PeerUp(name, "broker", 1))

    def get(self, peer: str, body: Body) -> Effects:
        return list(unfolded(self.machine.handle(2, Received(peer, Envelope(body)))))


def sent(effects: Effects) -> list[tuple[str, str]]:
    return [(e.peer, e.envelope.body.type) for e in effects if isinstance(e, Send)]


def refused(effects: Effects) -> list[str]:
    return [e.event.detail for e in effects if isinstance(e, Log) and e.event.kind == "REFUSED"]


def broadcast(
    ttl: int = 2, filter_: bytes = FILTER, link: float = 1.0, origin: str = "B0"
) -> InterestBroadcast:
    return InterestBroadcast(ttl, filter_, (Passed(origin, 1.0), Passed("B1", 1.0, link, 3)))


def test_a_broadcast_is_forwarded_while_it_lives() -> None:
    assert sent(Host().get("B1", broadcast(ttl=2))) == [("B3", "interest_broadcast")]
    assert sent(Host().get("B1", broadcast(ttl=1))) == []


@pytest.mark.parametrize(
    "bad",
    [
        broadcast(filter_=b"\xff"),
        broadcast(link=-1.0),
        broadcast(link=math.nan),
        broadcast(ttl=0),
        broadcast(ttl=1000),
        broadcast(origin="B1"),
        InterestBroadcast(2, FILTER, ()),
        LinkRequest(("B1", "B2", "B3"), (1.0, 1.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)),
        LinkRequest(("B1", "B2", "B3"), (1.0, 1.0, -1.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)),
        LinkRequest(("B1", "B2", "B3"), (1.0, 1.0, 1.0), (1.0, 1.0, 1.0), (0.0, math.inf, 0.0)),
        LinkRequest(("B1", "B3", "B4"), (1.0, 1.0, 1.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)),
        LinkRequest(("B3", "B2", "B1"), (1.0, 1.0, 1.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)),
    ],
)
def test_what_is_hostile_is_refused_with_a_record(bad: Body) -> None:
    effects = Host().get("B1", bad)
    assert refused(effects)
    assert all(type_ == "refusal" for _, type_ in sent(effects))


def test_without_a_neighbourhood_nothing_is_said() -> None:
    assert Host(eta=0).machine.next_deadline_us() is None


def test_too_little_information_ends_a_request() -> None:
    """'subsequent evaluation or consensus phases are aborted' (4.3.1)"""
    request = LinkRequest(("B1", "B2", "B3"), (1.0,) * 3, (1.0,) * 3, (0.0,) * 3)
    effects = Host().get("B1", request)
    assert [e.event.type for e in effects if isinstance(e, Log) and e.event.kind == "REQUEST_ENDED"] == [
        "unknown"
    ]
    assert sent(effects) == []


def test_a_broadcast_that_comes_back_is_not_passed_on() -> None:
    own = InterestBroadcast(3, FILTER, (Passed("B2", 1.0), Passed("B1", 1.0, 1.0, 0)))
    assert sent(Host().get("B1", own)) == []


def test_a_broker_alone_broadcasts_to_nobody() -> None:
    alone = machine_of(BrokerProcessConfig("B1", "", algorithm={"name": "lmit", "interval_us": 10}, seed=1))
    assert not [e for e in alone.handle(100, DeadlineReached()) if isinstance(e, Send)]
