"""Who may connect: the hello of a stream against what the broker knows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from broker_grpc.core.limits import Limits
from broker_grpc.core.links import hello_incarnation
from broker_grpc.errors import BrokerError
from broker_grpc.machine import PeerKind
from broker_grpc.process.handshake import check_hello, check_link, check_taken, hello
from broker_grpc.process.session import Session
from protos.body import Envelope
from protos.core_messages import Ack, Hello, Refusal
from protos.core_messages import PeerKind as WireKind
from protos.envelope import VERSION, encode

NEIGHBOURS = {"B2": "10.0.0.2:5000", "B3": "10.0.0.3:5000"}


class Line:
    """A stream of which only its other end matters."""

    def __init__(self, address: str = "10.0.0.2", identities: Sequence[str] = ()) -> None:
        self._address = address
        self._identities = identities

    async def read(self) -> bytes | None:
        return None

    async def write(self, data: bytes) -> None: ...

    def remote_address(self) -> str:
        return self._address

    def identities(self) -> Sequence[str]:
        return self._identities


def greeting(id_: str, kind: WireKind = WireKind.BROKER, incarnation: int = 1) -> Hello:
    return Hello(id_, kind, VERSION, incarnation)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (hello("", "broker", 1), "printable"),
        (hello("x" * 101, "broker", 1), "printable"),
        (hello("B\n2", "broker", 1), "printable"),
        (hello("c", "client", 1), "for a broker"),
        (encode(Envelope(Hello("B2", WireKind.PEER_KIND_UNKNOWN, VERSION, 1))), "for a broker"),
        (encode(Envelope(Ack("x"))), "must be a hello"),
        (encode(Envelope(Refusal("draining", "later"))), "draining: later"),
        (b"\xff", "no hello"),
        (hello("B2", "broker", 1) + b" " * 2000, "bytes"),
    ],
)
def test_a_first_message_that_is_no_good_hello(data: bytes, says: str) -> None:
    with pytest.raises(BrokerError, match=says):
        check_hello(data, "broker", Limits(max_message_bytes=1000))


def test_a_hello_may_name_a_newer_version() -> None:
    """It says the newest version that its sender speaks; each message says its own."""
    data = encode(Envelope(Hello("B2", WireKind.BROKER, VERSION + 8, 1), 0, 0, VERSION))
    assert check_hello(data, "broker", Limits()).version == VERSION + 8


@pytest.mark.parametrize(
    ("id_", "line", "says"),
    [
        ("B2", Line(), ""),
        ("B3", Line("10.0.0.3"), ""),
        ("B3", Line(), "at 10.0.0.3, not at 10.0.0.2"),
        ("B9", Line(), "no neighbour"),
        ("B1", Line("10.0.0.1"), "no neighbour"),  # our own id
        ("B3", Line("10.0.0.9", ["B3"]), ""),  # a certificate says more than an address
        ("B3", Line("10.0.0.3", ["B2"]), "certificate"),
    ],
)
def test_from_whom_a_link_may_come(id_: str, line: Line, says: str) -> None:
    if not says:
        return check_link(line, greeting(id_), NEIGHBOURS, Limits())
    with pytest.raises(BrokerError, match=says):
        check_link(line, greeting(id_), NEIGHBOURS, Limits())


def test_unknown_brokers_are_let_in_where_that_is_wanted() -> None:
    check_link(Line(), greeting("B9"), NEIGHBOURS, Limits(accept_unknown_brokers=True))


@pytest.mark.parametrize(
    ("kind", "incarnation", "line", "taken"),
    [
        ("broker", hello_incarnation(2, 5), Line(), False),  # a twin
        ("broker", hello_incarnation(2, 4), Line(), False),  # a late dial
        ("broker", hello_incarnation(1, 9), Line(), False),  # from before the restart
        ("broker", hello_incarnation(2, 6), Line(), True),  # dialled again
        ("broker", hello_incarnation(3, 0), Line(), True),  # restarted
        ("broker", hello_incarnation(3, 0), Line("10.0.0.9"), False),  # an impostor
        ("client", hello_incarnation(3, 0), Line(), False),  # the id is a broker's
    ],
)
async def test_who_may_take_the_place_of_a_live_stream(
    kind: PeerKind, incarnation: int, line: Line, taken: bool
) -> None:
    live = Session("B2", "broker", hello_incarnation(2, 5), Line(), Limits())
    wire = WireKind.BROKER if kind == "broker" else WireKind.CLIENT
    if taken:
        return check_taken(line, greeting("B2", wire, incarnation), live)
    with pytest.raises(BrokerError) as refused:
        check_taken(line, greeting("B2", wire, incarnation), live)
    assert refused.value.reason == "duplicate"


def test_an_id_without_a_live_stream_is_free() -> None:
    check_taken(Line(), greeting("B2"), None)
