"""Messages of rings that cannot be: refused with a record, and no table changes."""

from __future__ import annotations

from broker_grpc.protocols.ring.floods import MOST
from broker_grpc.protocols.ring.messages import MOST_MEMBERS
from broker_grpc.protocols.ring.settings import RingSettings
from protos.body import Body, Envelope
from protos.ring_messages import (
    RingAnswer,
    RingMembers,
    RingNotify,
    RingQuery,
    RingState,
    RingTaken,
)
from tests.ring.ring_network import RingNetwork
from tests.ring.test_upkeep import KINDS, RINGS, built

NOBODY = RingMembers((), ())
LIES: dict[str, Body] = {
    "an id beyond the circle": RingNotify(0, 1 << 64, 1, NOBODY, False),
    "an id below it": RingNotify(0, -1, 1, NOBODY, False),
    "an id that is no number": RingNotify(0, "7", 1, NOBODY, False),  # type: ignore[arg-type]
    "more ids than brokers": RingState(0, 5, 1, RingMembers((1, 2), ("B3",))),
    "a member beyond the circle": RingNotify(0, 5, 1, RingMembers((1 << 70,), ("X",)), False),
    "a member without a name": RingState(0, 5, 1, RingMembers((1,), ("",))),
    "too many members": RingState(
        0, 5, 1, RingMembers(tuple(range(MOST_MEMBERS + 1)), ("X",) * (MOST_MEMBERS + 1))
    ),
    "a question in the name of another": RingQuery(0, 5, 1, ("B3",)),
    "a question without a way": RingQuery(0, 5, 1, ()),
    "a question that was here": RingQuery(0, 5, 1, ("B3", "B3", "B2")),
    "a question that went too far": RingQuery(0, 5, 1, (*(f"X{n}" for n in range(100)), "B2")),
    "an answer for another": RingAnswer(0, 5, 1, ("B3",), NOBODY),
    "an answer that went too far": RingAnswer(0, 5, 1, (*(f"X{n}" for n in range(100)), "B1"), NOBODY),
    "an id that nobody here has": RingTaken(0, 12345, "B3"),
}


def said(net: RingNetwork, body: Body) -> None:
    """B2 says it to B1, as no broker of ours would."""
    net.apply("B1", net.nodes["B1"].receive(net.now_us, "B2", Envelope(body, 1)))


@RINGS
def test_what_cannot_be_is_refused_and_changes_nothing(settings: RingSettings) -> None:
    net = built(settings, 6)
    before = net.ring("B1").tables.copy()
    for what, body in LIES.items():
        count = len(net.events("REFUSED"))
        said(net, body)
        assert len(net.events("REFUSED")) == count + 1, what
        assert net.events("REFUSED")[-1].node == "B1", what
        assert net.ring("B1").tables == before, what
    net.until_converged()


def test_of_a_flood_the_rest_is_refused_and_the_ring_goes_on() -> None:
    net = built(KINDS[0], 6)
    place = net.ring("B2").me.id
    for _ in range(MOST + 50):
        said(net, RingNotify(0, place, 1, NOBODY, False))
    refused = [event for event in net.events("REFUSED") if f"more than {MOST}" in event.detail]
    assert 50 <= len(refused) <= 60
    net.until_converged()


def test_brokers_that_are_only_heard_of_do_not_come_into_tables() -> None:
    """Whatever a neighbour says of others: they are asked first, and who does not answer is none."""
    net = built(KINDS[1], 6)
    me = net.ring("B1").me.id
    invented = RingMembers(
        tuple((me + n) % (1 << 64) for n in range(1, 100)), tuple(f"X{n}" for n in range(1, 100))
    )
    said(net, RingNotify(0, net.ring("B2").me.id, 1, invented, False))
    assert not {one.broker for one in net.ring("B1").tables.known()} & set(invented.brokers)
    net.until_converged()
