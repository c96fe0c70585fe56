"""A fixed ring as the substrate of a broker."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.identifiers import Member, id_of, key_of
from broker_grpc.protocols.ring.settings import RingSettings
from broker_grpc.protocols.ring.static import StaticRing, members_of
from broker_grpc.protocols.ring.substrate import RingHost, Substrate
from protos.body import Body
from protos.records import LogEvent


class SilentHost:
    """A host that takes demands, and to which nothing may be sent."""

    def __init__(self, id_: str) -> None:
        self.id = id_
        self.now_us = 0
        self.random = Random(0)
        self.demands: list[Mapping[str, str]] = []
        self.events: list[LogEvent] = []

    def send(self, peer: str, body: Body, request: int = 0) -> None:
        raise AssertionError(f"{body} to {peer}")

    def log(self, event: LogEvent) -> None:
        self.events.append(event)

    def rtt_us(self, peer: str) -> int | None:
        return None

    def demand(self, plane: int, wanted: Mapping[str, str]) -> None:
        self.demands.append(wanted)


class Heard:
    def __init__(self) -> None:
        self.moves = 0

    def responsibility_moved(self) -> None:
        self.moves += 1

    def replaced(self, old: str, new: str | None) -> None:
        raise AssertionError


def ring_of(host: RingHost, kind: str = "chord") -> StaticRing:
    settings = RingSettings(kind=kind, maintain=False, bootstrap="converged", successors=2)  # type: ignore[arg-type]
    return StaticRing(host, settings, members_of(f"B{number}" for number in range(1, 21)))


def test_it_answers_as_the_computed_tables_do_and_wants_what_they_name() -> None:
    host = SilentHost("B3")
    ring: Substrate = ring_of(host)
    ring.join(0, ())
    computed = Converged(members_of(f"B{number}" for number in range(1, 21)), RingSettings(successors=2))
    for number in range(50):
        key = key_of(f"topic {number}")
        assert ring.next_hop(key) == computed.next_hop("B3", key)
    wanted = ring.wanted()
    assert host.demands == [wanted]
    assert [event.detail for event in host.events] == ["joined"]
    assert set(wanted) == {member.broker for member in computed.tables("B3").known()}
    assert set(wanted.values()) == {"leaf", "finger"}
    assert ring.settled
    assert ring.next_deadline_us() is None


def test_a_broker_alone_is_responsible_for_all() -> None:
    ring = ring_of(SilentHost("B3"))
    heard = Heard()
    ring.listeners.append(heard)
    ring.leave(0)
    assert ring.next_hop(0) is None
    assert ring.next_hop(1 << 63) is None
    assert heard.moves == 1


def test_another_id_moves_what_it_is_responsible_for() -> None:
    ring = ring_of(SilentHost("B3"))
    assert ring.me == Member(id_of("B3"), "B3")
    ring.renumber(0, 12345)
    assert ring.next_hop(12345) is None
    assert ring.me.id == 12345
