"""Streams, hellos, links and queues of real broker processes, with a machine that only floods."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import grpc.aio
import pytest

from broker_grpc.core.limits import Limits
from broker_grpc.errors import DuplicateError, ProtocolError
from broker_grpc.machine import Copies, Effects, Received, Stimulus
from broker_grpc.process.client_gate import ClientGate
from broker_grpc.process.clock import RunClock
from broker_grpc.process.conversation import converse
from broker_grpc.process.eventlog import EventLog
from broker_grpc.process.eventloop import SparingSelector
from broker_grpc.process.handshake import check_hello, hello
from broker_grpc.process.runtime import Runtime
from broker_grpc.process.session import Session
from broker_grpc.process.transport import LINK, StreamLost
from protos.body import Envelope
from protos.client_messages import Publication, Subscription
from protos.content_messages import Operator, Predicate
from protos.core_messages import Ack, Refusal
from protos.envelope import VERSION, encode
from tests.broker_process.broker_nodes import PATIENCE_S, BrokerNode, Poker
from tests.broker_process.flood_machine import FloodMachine
from tests.broker_process.orders import Orders

SECRET = "a secret of this test"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerNode]:
    node = BrokerNode(tmp_path, "B1", options={"max_message_bytes": 10_000}).start()
    yield node
    if node.process.poll() is None:
        node.stop()


@pytest.fixture
async def poker(broker: BrokerNode) -> AsyncIterator[Poker]:
    poker = await Poker(broker.address, "alice").greet()
    await broker.wait_for(clients=1)  # its hello leaves a broker before the client is taken in
    yield poker
    await poker.close()


def publication(number: int, size: int = 100) -> Publication:
    return Publication(f"alice:{number}", "alice", "a", 1, {"class": "STOCK"}, b"x" * size)


async def test_a_publication_crosses_three_brokers_and_counts_hops(tmp_path: Path) -> None:
    first = BrokerNode(tmp_path, "B1")
    third = BrokerNode(tmp_path, "B3")
    links = [{"id": n.name, "address": n.address, "dial": True} for n in (first, third)]
    second = BrokerNode(tmp_path, "B2", links)
    back = {"id": "B2", "address": second.address, "dial": False}
    for node in (first, third):
        node.config["neighbours"] = [back]
    nodes = [first, second, third]
    for node in nodes:
        node.start()
    await second.wait_for(links=2)
    sender = await Poker(first.address, "alice").greet()
    receiver = await Poker(third.address, "bob").greet()
    await third.wait_for(clients=1)
    for number in range(300):
        await sender.send(publication(number))
    got = [await receiver.receive() for _ in range(300)]
    assert [envelope.body.id for envelope in got] == [f"alice:{n}" for n in range(300)]
    assert {envelope.hops for envelope in got} == {3}
    await sender.close()
    await receiver.close()
    assert [node.stop() for node in nodes] == [0, 0, 0]
    kinds = [event.kind for event in second.logged()]
    assert (kinds[0], kinds[-1]) == ("STARTED", "STOPPED")
    hellos = [(event.kind, event.peer) for event in second.logged() if event.type == "hello"]
    assert sorted(hellos) == [("RECEIVED", "B1"), ("RECEIVED", "B3"), ("SENT", "B1"), ("SENT", "B3")]


@pytest.mark.parametrize("bad", [b"\xff\xff\xff", b"no envelope at all", b"\x0b", b"\x08"])
async def test_malformed_bytes_are_refused_and_the_stream_stays(
    broker: BrokerNode, poker: Poker, bad: bytes
) -> None:
    await poker.stream.write(bad)
    refusal = (await poker.receive()).body
    assert isinstance(refusal, Refusal)
    assert refusal.reason in ("malformed", "unknown_message")
    await assert_alive(poker)


async def test_a_newer_version_and_an_unknown_body_are_refused(poker: Poker) -> None:
    await poker.stream.write(encode(Envelope(Ack("x", ""), 0, 77, VERSION + 1)))
    answer = await poker.receive()
    refusal = answer.body
    assert (refusal.reason, f"version {VERSION + 1}" in refusal.detail) == ("unknown_message", True)
    assert answer.request == 77, "whoever asked is told"
    await poker.stream.write(b"\xfa\x7f\x00")  # field 2047
    assert (await poker.receive()).body.reason == "unknown_message"
    await assert_alive(poker)


async def test_an_oversized_message_is_refused_and_the_stream_stays(poker: Poker) -> None:
    await poker.send(publication(1, size=11_000), request=5)
    answer = await poker.receive()
    assert (answer.body.reason, answer.request) == ("limit_exceeded", 5)
    await assert_alive(poker)


async def test_a_far_oversized_message_costs_only_its_own_stream(broker: BrokerNode, poker: Poker) -> None:
    other = await Poker(broker.address, "mallory").greet()
    await other.send(publication(1, size=50_000))
    with pytest.raises((StreamLost, AssertionError)):
        await other.receive()
    await assert_alive(poker)
    await other.close()


async def test_what_the_machine_refuses_carries_the_request(poker: Poker) -> None:
    await poker.send(Subscription("bad", "alice", ()), request=77)
    answer = await poker.receive()
    assert (answer.body.reason, answer.request) == ("bad_content", 77)
    await assert_alive(poker)


async def assert_alive(poker: Poker) -> None:
    await poker.send(Subscription("s9", "alice", ()), request=9)
    answer = await poker.receive()
    assert isinstance(answer.body, Ack)
    assert answer.request == 9


# ---------------------------------------------------------------- hellos


async def test_the_first_message_must_be_a_hello(broker: BrokerNode) -> None:
    poker = Poker(broker.address, "alice")
    await poker.send(publication(1))
    assert (await poker.receive()).body.reason == "protocol"
    assert await poker.stream.read() is None
    await poker.close()


async def test_a_second_hello_is_refused(poker: Poker) -> None:
    await poker.stream.write(hello("alice", "client", 2))
    assert (await poker.receive()).body.reason == "protocol"
    await assert_alive(poker)


async def test_an_id_in_use_is_refused_to_another(broker: BrokerNode, poker: Poker) -> None:
    with pytest.raises(ProtocolError, match="already connected"):
        await Poker(broker.address, "alice").greet(incarnation=1)
    await assert_alive(poker)


async def test_a_later_incarnation_takes_over(broker: BrokerNode, poker: Poker) -> None:
    again = await Poker(broker.address, "alice").greet(incarnation=2)
    await assert_alive(again)
    with pytest.raises((StreamLost, AssertionError)):
        await poker.receive()
    with pytest.raises(ProtocolError, match="already connected, as incarnation 2"):
        await Poker(broker.address, "alice").greet(incarnation=1)
    assert (await broker.wait_for(clients=1))["clients"] == 1
    await again.close()


async def test_only_a_neighbour_may_open_a_link(broker: BrokerNode) -> None:
    with pytest.raises(ProtocolError, match="no neighbour"):
        await Poker(broker.address, "B9", method=LINK).greet(kind="broker")
    with pytest.raises(ProtocolError, match="for a broker"):
        await Poker(broker.address, "alice", method=LINK).greet(kind="client")


async def test_a_broker_of_the_address_book_may_open_a_link(tmp_path: Path) -> None:
    second = BrokerNode(tmp_path, "B2")
    first = BrokerNode(tmp_path, "B1", [{"id": "B2", "address": second.address, "dial": True}])
    second.config["address_book"] = {"B1": first.address, "B2": second.address}
    first.start(), second.start()
    await second.wait_for(links=1)
    assert [link["peer"] for link in second.status()["links"]] == ["B1"], "itself is no other"
    assert [first.stop(), second.stop()] == [0, 0]


async def test_a_broker_that_claims_anothers_id_is_refused(tmp_path: Path) -> None:
    elsewhere = {"id": "B2", "address": "127.0.0.2:1", "dial": False}
    node = BrokerNode(tmp_path, "B1", [elsewhere]).start()
    with pytest.raises(ProtocolError, match=r"B2.*at 127\.0\.0\.2"):
        await Poker(node.address, "B2", method=LINK).greet(kind="broker")
    assert node.stop() == 0
    assert [event.type for event in node.logged("REFUSED")] == ["hello"]


async def test_a_broker_that_connects_twice_has_one_link(tmp_path: Path) -> None:
    node = BrokerNode(tmp_path, "B1", [{"id": "B2", "address": "127.0.0.1:1", "dial": False}]).start()
    first = await Poker(node.address, "B2", method=LINK).greet(kind="broker")
    await node.wait_for(links=1)
    with pytest.raises(ProtocolError, match="already connected"):
        await Poker(node.address, "B2", method=LINK).greet(kind="broker")
    second = await Poker(node.address, "B2", method=LINK).greet(kind="broker", incarnation=2)
    with pytest.raises((StreamLost, AssertionError)):
        await first.receive()
    await assert_alive(second)
    assert len((await node.wait_for(links=1))["links"]) == 1
    await second.close()
    await node.wait_for(links=0)
    node.stop()
    events = [event.kind for event in node.logged() if event.kind.startswith("LINK")]
    assert events == ["LINK_UP", "LINK_DOWN", "LINK_UP", "LINK_DOWN"]


class SlowStream:
    """Says hello, and takes its time to hear ours: meanwhile `first` happens."""

    def __init__(self, greeting: bytes, first: Callable[[], None] = lambda: None) -> None:
        self._greeting = greeting
        self._first = first
        self.written: list[bytes] = []

    async def read(self) -> bytes:
        return self._greeting

    async def write(self, data: bytes) -> None:
        self._first()
        self.written.append(data)

    def remote_address(self) -> str:
        return "127.0.0.1"

    def identities(self) -> Sequence[str]:
        return ()


async def test_a_stream_overtaken_during_its_hello_does_not_take_over(tmp_path: Path) -> None:
    """A dial that got stuck, and the next one of the same client that was faster."""
    log = EventLog(tmp_path / "x.jsonl", "B1", RunClock(0))
    runtime = Runtime(FloodMachine(), RunClock(0), log, Limits())
    gate = ClientGate(hello("B1", "broker", 1), [], runtime)

    def overtake() -> None:
        stream = SlowStream(hello("alice", "client", 2))
        runtime.sessions["alice"] = Session("alice", "client", 2, stream, Limits())

    slow = SlowStream(hello("alice", "client", 1), overtake)
    greeting = check_hello(await slow.read(), "client", Limits())
    with pytest.raises(DuplicateError, match="already connected, as incarnation 2"):
        await gate._greet(slow, greeting)  # type: ignore[arg-type]
    log.close()


async def test_nobody_waits_for_a_writer_that_is_gone() -> None:
    class Broken(SlowStream):
        async def write(self, data: bytes) -> None:
            raise StreamLost("gone")

    session = Session("alice", "client", 1, Broken(b""), Limits())
    session.send(b"x")
    await session.write_loop()
    async with asyncio.timeout(PATIENCE_S):
        await session.drained()


async def test_what_is_written_after_the_end_of_ones_own_direction_goes_nowhere(poker: Poker) -> None:
    """A broker that closes a link may have something for it until the other end has closed as well."""
    await poker.stream.finish()
    with pytest.raises(StreamLost):
        await poker.send(publication(1))


async def test_a_defect_of_the_machine_is_reported_and_not_swallowed(tmp_path: Path) -> None:
    class Defective(FloodMachine):
        def handle(self, now_us: int, stimulus: Stimulus) -> Effects:
            if isinstance(stimulus, Received):
                raise KeyError("no such thing")
            return []

    log = EventLog(tmp_path / "x.jsonl", "B1", RunClock(0))
    runtime = Runtime(Defective(), RunClock(0), log, Limits())
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    stream = SlowStream(encode(Envelope(Ack("x", ""))))
    reason = await converse(Session("alice", "client", 1, stream, Limits()), runtime)
    assert "KeyError" in reason
    assert [type(context["exception"]) for context in reported] == [KeyError]
    log.close()


async def test_of_copies_only_those_that_were_sent_are_recorded(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "x.jsonl", "B1", RunClock(0))
    runtime = Runtime(FloodMachine(), RunClock(0), log, Limits())
    session = runtime.sessions["B2"] = Session("B2", "broker", 1, SlowStream(b""), Limits())
    runtime.apply([Copies(7, "B1", "FORWARDED", ["B2", "B3"], Envelope(Publication("p1"), 2), 50)])
    log.close()
    written = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    assert [(e["kind"], e["peer"], e["message"]) for e in written] == [
        ("FORWARDED", "B2", "p1"),
        ("DROPPED", "B3", "p1"),
    ]
    assert session.queued == 1
    assert runtime.unsent == {"FORWARDED": 1}


# ---------------------------------------------------------------- faults


async def test_a_client_that_never_reads_costs_bounded_memory_and_nobody_else(tmp_path: Path) -> None:
    options = {"output_queue_messages": 500, "output_queue_bytes": 1 << 20}
    node = BrokerNode(tmp_path, "B1", options=options).start()
    deaf = await Poker(node.address, "deaf").greet()
    reader = await Poker(node.address, "reader").greet()
    sender = await Poker(node.address, "alice").greet()
    await node.wait_for(clients=3)
    before = resident(node.process.pid)
    for number in range(6000):
        await sender.send(publication(number, size=2000))
        if number % 100 == 99:  # the reader keeps up, however busy the machine is
            assert await count_received(reader, 100) == 100
    status = node.status()
    assert status["dropped"] > 3000
    assert resident(node.process.pid) - before < 40 << 20
    for poker in (deaf, reader, sender):
        await poker.close()
    node.stop()
    dropped = node.logged("DROPPED")
    assert len(dropped) == status["dropped"]
    assert {(event.peer, event.detail) for event in dropped} == {("deaf", "output queue full")}


async def count_received(poker: Poker, wanted: int) -> int:
    count = 0
    while count < wanted:
        await poker.receive()
        count += 1
    return count


def resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


async def test_a_killed_neighbour_is_noticed_and_redialled(tmp_path: Path) -> None:
    second = BrokerNode(tmp_path, "B2")
    link = {"id": "B2", "address": second.address, "dial": True}
    first = BrokerNode(tmp_path, "B1", [link]).start()
    second.config["neighbours"] = [{"id": "B1", "address": first.address, "dial": False}]
    second.start()
    await first.wait_for(links=1)
    sender = await Poker(first.address, "alice").greet()
    flood = asyncio.create_task(keep_sending(sender))
    await asyncio.sleep(0.2)
    second.kill()
    await first.wait_for(links=0)
    second.config["incarnation"] = 2
    second.start()
    await first.wait_for(links=1)
    flood.cancel()
    await asyncio.gather(flood, return_exceptions=True)
    await sender.close()
    assert [first.stop(), second.stop()] == [0, 0]
    assert [event.kind for event in second.logged("STARTED")] == ["STARTED", "STARTED"]


async def keep_sending(poker: Poker) -> None:
    number = 0
    while True:
        number += 1
        await poker.send(publication(number))
        await asyncio.sleep(0.001)


async def test_ten_thousand_subscriptions_then_a_disconnect_leave_nothing(tmp_path: Path) -> None:
    broker = BrokerNode(tmp_path, "B1", flood=False).start()

    async def round_trip() -> None:
        poker = await Poker(broker.address, "alice").greet()
        for number in range(10_000):
            wanted = (Predicate("class", Operator.EQ, "X"), Predicate("price", Operator.GT, number))
            await poker.send(Subscription(f"s{number}", "alice", wanted), request=number + 1)
        assert await count_received(poker, 10_000) == 10_000
        assert broker.status()["subscriptions"] == 10_000
        await poker.close()
        await broker.wait_for(subscriptions=0, clients=0)

    await round_trip()
    before = resident(broker.process.pid)
    await round_trip()
    assert resident(broker.process.pid) - before < 8 << 20
    broker.stop()


async def test_a_full_disk_does_not_stop_a_broker(tmp_path: Path) -> None:
    node = BrokerNode(tmp_path, "B1", events="/dev/full", options={"log_flush_us": 10_000}).start()
    poker = await Poker(node.address, "alice").greet()
    await asyncio.sleep(0.1)
    await assert_alive(poker)
    await poker.close()
    assert node.stop() == 0
    assert node.output().count("No space left on device") == 1


async def test_deadlines_are_met_to_a_fraction_of_a_millisecond(tmp_path: Path) -> None:
    """A few in a row show it: others may be late because the machine is busy, and one may be lucky."""
    node = BrokerNode(tmp_path, "B1", options={"tick_us": 10_300, "log_flush_us": 100_000}).start()
    poker = await Poker(node.address, "alice").greet()
    async with asyncio.timeout(5 * PATIENCE_S):
        late: list[int] = []
        while not any(max(late[n : n + 5]) < 400 for n in range(len(late) - 4)):
            await asyncio.sleep(0.1)
            late = [event.duration_us for event in node.logged("SAMPLED")]
    await poker.close()
    assert node.stop() == 0


def test_the_loop_waits_for_less_than_a_millisecond() -> None:
    """epoll alone would never: it waits for a whole one. A busy machine makes many waits longer."""
    waits: list[float] = []
    with SparingSelector() as selector:
        while len(waits) < 50 or (min(waits) >= 0.0009 and len(waits) < 20_000):
            start = time.monotonic()
            selector.select(0.0003)
            waits.append(time.monotonic() - start)
    assert 0.0003 <= min(waits) < 0.0009


# ---------------------------------------------------------------- control


@pytest.fixture
def ordered(tmp_path: Path) -> Iterator[BrokerNode]:
    """A broker with a control service, for who knows the secret."""
    node = BrokerNode(tmp_path, "B1", options={"control_service": True})
    (tmp_path / "secret").write_text(SECRET)
    node.config["control_secret"] = str(tmp_path / "secret")
    yield node.start()
    if node.process.poll() is None:
        node.stop()


async def code_of(call: Any) -> Any:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call
    return refused.value.code()


async def test_without_the_option_there_is_no_control_service(broker: BrokerNode) -> None:
    async with Orders(broker.address, SECRET) as orders:
        assert await code_of(orders.shut_down()) == grpc.StatusCode.UNIMPLEMENTED
    assert broker.status()["broker"] == "B1"


async def test_nobody_gives_orders_without_the_secret(ordered: BrokerNode) -> None:
    for wrong in ("", SECRET[:-1], SECRET + "x"):
        async with Orders(ordered.address, wrong) as orders:
            for order in (orders.status, orders.drain, orders.shut_down):
                assert await code_of(order()) == grpc.StatusCode.PERMISSION_DENIED
    assert (ordered.status()["broker"], ordered.status()["draining"]) == ("B1", False)


def test_a_control_service_without_a_guard_does_not_start(tmp_path: Path) -> None:
    open_to_all = BrokerNode(tmp_path, "B1", options={"control_service": True}, flood=False)
    with pytest.raises(AssertionError, match="control_service without TLS needs `control_secret`"):
        open_to_all.start()


async def test_the_control_service(ordered: BrokerNode) -> None:
    broker = ordered
    poker = await Poker(broker.address, "alice").greet()
    await broker.wait_for(clients=1)
    orders = Orders(broker.address, SECRET)
    status = await orders.status()
    assert (status.broker, status.clients, status.draining) == ("B1", 1, False)
    drained = await orders.drain()
    assert (drained.drained, drained.left) == (True, 0)
    with pytest.raises(ProtocolError, match="draining"):
        await Poker(broker.address, "late").greet()
    await assert_alive(poker)
    await orders.shut_down()
    assert broker.process.wait(10) == 0
    await orders.close()
    await poker.close()


async def test_a_taken_address_is_said_and_ends_with_code_one(broker: BrokerNode, tmp_path: Path) -> None:
    second = BrokerNode(tmp_path, "B2", port=broker.port)
    with pytest.raises(AssertionError, match="cannot listen"):
        second.start()
    assert second.process.wait(10) == 1


# ---------------------------------------------------------------- connections on which nothing is said


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)  # and empty settings


@pytest.mark.parametrize("said", [b"", PREFACE], ids=["nothing", "no call"])
async def test_a_connection_on_which_nothing_is_said_ends(tmp_path: Path, said: bytes) -> None:
    node = BrokerNode(tmp_path, "B1", options={"hello_timeout_us": 500_000}).start()
    poker = await Poker(node.address, "alice").greet()
    reader, writer = await asyncio.open_connection("127.0.0.1", node.port)
    writer.write(said)
    async with asyncio.timeout(PATIENCE_S):
        while await reader.read(4096):
            pass
    writer.close()
    await assert_alive(poker)  # who has said hello may be silent as long as he likes
    await poker.close()
    assert node.stop() == 0
