"""The client API against real brokers."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from broker_grpc.client.api import Client, NotConnected, PublicationsLost, Refused
from broker_grpc.errors import LanguageError, LimitExceeded
from broker_grpc.process.clock import RunClock
from protos.records import LogEvent
from tests.broker_process.broker_nodes import PATIENCE_S
from tests.broker_process.overlay import Overlay, check_deliveries


@pytest.fixture
async def chain(tmp_path: Path) -> AsyncIterator[Overlay]:
    overlay = await Overlay(tmp_path, 3, [(1, 2), (2, 3)]).start()
    yield overlay
    overlay.stop()


async def test_subscribe_publish_and_iterate(chain: Overlay) -> None:
    clock = RunClock()  # the same for both: a delay is the difference of two readings
    async with (
        Client(chain[1].address, id="alice", clock=clock) as alice,
        Client(chain[3].address, id="bob", broker="B3", clock=clock) as bob,
    ):
        await alice.advertise("[class,eq,'STOCK'],[price,isPresent,0]")
        await bob.subscribe("[class,eq,'STOCK'],[price,>,10]")
        await chain.settled()
        await alice.publish("[class,'STOCK'],[price,9]")
        await alice.publish({"class": "STOCK", "price": 18.5}, payload=b"hello")
        async with asyncio.timeout(PATIENCE_S):
            notification = await anext(bob)
        assert notification.attributes == {"class": "STOCK", "price": 18.5}
        assert (notification.publisher, notification.payload, notification.hops) == ("alice", b"hello", 2)
        assert 0 < notification.delay_us < PATIENCE_S * 1_000_000


async def test_bad_content_and_refusals_are_errors_of_the_call(chain: Overlay) -> None:
    async with Client(chain[1].address, id="alice") as alice:
        with pytest.raises(LanguageError):
            await alice.subscribe("[price,>,10]")
        with pytest.raises(LanguageError):
            await alice.publish("[class,'STOCK'],[price,>,1]")
        with pytest.raises(LimitExceeded, match="at most 1048576"):
            await alice.publish("[class,'STOCK']", payload=bytes(2_000_000))
        many = "[class,eq,'STOCK']," + ",".join(f"[a{n},>,1]" for n in range(63))
        held = await alice.subscribe(many)
        assert held.id
        await alice.unsubscribe(held)


async def test_a_filter_beyond_the_brokers_limit_is_refused(tmp_path: Path) -> None:
    overlay = await Overlay(tmp_path, 1, [], options={"max_predicates": 2}).start()
    async with Client(overlay[1].address, id="alice") as alice:
        with pytest.raises(Refused, match="limit"):
            await alice.subscribe("[class,eq,'STOCK'],[a,>,1],[b,>,1]")
        assert (await alice.subscribe("[class,eq,'STOCK'],[a,>,1]")).id
    overlay.stop()


async def test_nobody_there() -> None:
    with pytest.raises(NotConnected, match="no broker answers 'alice'"):
        async with Client("127.0.0.1:1", id="alice", connect_timeout_s=0.5):
            pass


async def why_not_connected(address: str, id: str, broker: str = "") -> str:
    """What the client is told when it gives up: on a busy machine it may do so before it was refused."""
    told = ""
    for seconds in (1, 5, PATIENCE_S):
        with pytest.raises(NotConnected) as given_up:
            async with Client(address, id=id, broker=broker, connect_timeout_s=seconds):
                pass
        told = str(given_up.value)
        if "no broker answers" not in told:
            break
    return told


async def test_a_wrong_broker_id_is_no_connection(chain: Overlay) -> None:
    assert "dialled 'B9' and got 'B1'" in await why_not_connected(chain[1].address, "alice", "B9")


@pytest.mark.parametrize("broker", ["B1", "B2"])
async def test_a_client_that_claims_the_id_of_a_broker_is_told_why_not(chain: Overlay, broker: str) -> None:
    """Its incarnation is newer than that of any broker: the link must not fall to it."""
    told = await why_not_connected(chain[2].address, broker)
    assert re.search(f"did not take '{broker}'.*id of a broker", told)
    await chain[2].wait_for(links=2)


async def test_giving_up_the_connection_leaves_nothing_behind() -> None:
    client = Client("127.0.0.1:1", id="alice")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(client.__aenter__(), 0.3)
    assert [task.get_name() for task in asyncio.all_tasks() if "dial" in task.get_name()] == []
    with pytest.raises(NotConnected, match="closed"):
        await client.subscribe("[class,eq,'X']")


async def test_a_subscription_that_nobody_waits_for_is_withdrawn(chain: Overlay) -> None:
    async with Client(chain[1].address, id="alice") as alice:
        asking = asyncio.create_task(alice.subscribe("[class,eq,'X']"))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await chain[1].wait_for(subscriptions=0)
        held = await alice.subscribe("[class,eq,'Y']")
        await chain[1].wait_for(subscriptions=1)
        await alice.unsubscribe(held)
        await chain[1].wait_for(subscriptions=0)


async def test_one_after_the_other_with_the_same_name_publish_different_publications(chain: Overlay) -> None:
    """Also within one second: a subscriber must not take the second for a copy of the first."""
    async with Client(chain[1].address, id="bob") as bob:
        await bob.subscribe("[class,eq,'X']")
        for number in range(3):
            async with Client(chain[1].address, id="alice") as alice:
                await alice.publish({"class": "X", "number": number})
        got = [await asyncio.wait_for(anext(bob), PATIENCE_S) for _ in range(3)]
        assert [n.attributes["number"] for n in got] == [0, 1, 2]


async def test_several_tasks_may_iterate(chain: Overlay) -> None:
    async with (
        Client(chain[1].address, id="alice") as alice,
        Client(chain[1].address, id="bob") as bob,
    ):
        await bob.subscribe("[class,eq,'X']")
        readers = [asyncio.create_task(anext(bob)) for _ in range(3)]
        await asyncio.sleep(0)
        for number in range(3):
            await alice.publish({"class": "X", "number": number})
        async with asyncio.timeout(PATIENCE_S):
            got = await asyncio.gather(*readers)
        assert sorted(n.attributes["number"] for n in got) == [0, 1, 2]


async def test_a_paused_publisher_buffers_and_does_not_spin(chain: Overlay) -> None:
    """In virtual time a loop that does not wait for anything would stop the clock for ever."""
    async with Client(chain[1].address, id="alice") as alice:
        held = await alice.advertise("[class,eq,'X']")
        alice._machine.items[held.token].paused = True
        content = {"class": "X", "number": 0}
        async with asyncio.timeout(PATIENCE_S):
            for number in range(1500):
                content["number"] = number
                await alice.publish(content)
        assert alice._machine.buffered == 1500
        alice._machine.items[held.token].paused = False
        async with Client(chain[1].address, id="bob") as bob:
            await bob.subscribe("[class,eq,'X']")
            await alice.publish({"class": "X", "number": 1500})
            got = [await asyncio.wait_for(anext(bob), PATIENCE_S) for _ in range(1501)]
        assert [n.attributes["number"] for n in got] == list(range(1501)), "each as it was when published"


async def test_the_log_of_a_client_is_in_the_file_within_its_time(tmp_path: Path, chain: Overlay) -> None:
    path = tmp_path / "alice.jsonl"
    async with Client(chain[1].address, id="alice", events=path):
        async with asyncio.timeout(PATIENCE_S):
            while b"CONNECTED" not in path.read_bytes():
                await asyncio.sleep(0.1)


async def test_everything_published_before_close_arrives(chain: Overlay) -> None:
    async with Client(chain[3].address, id="bob") as bob:
        await bob.subscribe("[class,eq,'X']")
        async with Client(chain[1].address, id="alice") as alice:
            await alice.advertise("[class,eq,'X']")
            await chain.settled()
            for number in range(3000):
                await alice.publish({"class": "X", "number": number})
        got = [await asyncio.wait_for(anext(bob), PATIENCE_S) for _ in range(3000)]
        assert [n.attributes["number"] for n in got] == list(range(3000))
        assert bob.missed == 0


async def test_large_publications_all_arrive(chain: Overlay) -> None:
    """30 MB: more than a session's queue holds, in fewer messages than it holds."""
    async with Client(chain[1].address, id="alice") as alice:
        for number in range(1500):
            await alice.publish({"class": "X", "number": number}, payload=bytes(20_000))
    await chain[1].wait_for(publications=1500)


async def test_what_a_connection_takes_with_it_is_told(tmp_path: Path) -> None:
    """The broker is stopped, so that nothing is read, and then killed."""
    overlay = await Overlay(tmp_path, 1, []).start()
    alice = await Client(overlay[1].address, id="alice").__aenter__()
    alice._timeout_s = 0.5  # patience for a connection, once there was one
    os.kill(overlay[1].process.pid, signal.SIGSTOP)
    sent: list[str] = []

    async def publish_on() -> None:
        while True:
            async with asyncio.timeout(1):
                sent.append(await alice.publish({"class": "X"}, payload=bytes(100_000)))

    with pytest.raises(TimeoutError):
        await publish_on()
    taken = len(sent)
    assert taken * 100_000 < 16 << 20, "a broker that reads nothing costs bounded memory"
    overlay[1].kill()
    async with asyncio.timeout(PATIENCE_S):
        while alice.connected:
            await asyncio.sleep(0.02)
    with pytest.raises(PublicationsLost) as lost:
        await alice.publish({"class": "X"})
    assert 0 < lost.value.count <= taken
    with pytest.raises(NotConnected, match="nothing takes them"):
        await publish_on()
    kept = len(sent) - taken
    with pytest.raises(PublicationsLost) as lost:
        await alice.close()
    assert lost.value.count == kept > 0


async def test_more_than_a_broker_takes_is_an_error(chain: Overlay) -> None:
    async with Client(chain[1].address, id="alice") as alice:
        with pytest.raises(LimitExceeded, match="at most 1048576"):
            await alice.publish({"class": "X", "text": "x" * 600_000}, payload=bytes(600_000))


async def test_a_restarted_broker_finds_its_clients_again(tmp_path: Path, chain: Overlay) -> None:
    async with (
        Client(chain[1].address, id="alice", events=tmp_path / "alice.jsonl") as alice,
        Client(chain[3].address, id="bob") as bob,
    ):
        await alice.advertise("[class,eq,'X']")
        await bob.subscribe("[class,eq,'X']")
        await chain.settled()
        await alice.publish({"class": "X", "number": 1})
        assert (await asyncio.wait_for(anext(bob), PATIENCE_S)).attributes["number"] == 1
        chain[3].kill()
        async with asyncio.timeout(PATIENCE_S):
            while bob.connected:
                await asyncio.sleep(0.02)
        chain[3].config["incarnation"] = 2
        chain[3].start()
        await chain[3].wait_for(links=1, subscriptions=1, advertisements=1)
        await chain.settled()
        await alice.publish({"class": "X", "number": 2})
        assert (await asyncio.wait_for(anext(bob), PATIENCE_S)).attributes["number"] == 2


async def test_a_slow_application_loses_and_counts(chain: Overlay) -> None:
    async with (
        Client(chain[1].address, id="alice") as alice,
        Client(chain[1].address, id="bob", notifications=10) as bob,
    ):
        await alice.advertise("[class,eq,'X']")
        await bob.subscribe("[class,eq,'X']")
        for number in range(100):
            await alice.publish({"class": "X", "number": number})
        async with asyncio.timeout(PATIENCE_S):
            while bob.missed < 90:
                await asyncio.sleep(0.01)
        assert [(await anext(bob)).attributes["number"] for _ in range(10)] == list(range(10))


async def test_many_clients_keep_the_invariants(tmp_path: Path) -> None:
    overlay = await Overlay(tmp_path, 5, [(1, 2), (1, 3), (3, 4), (3, 5)]).start()
    files = []
    clients: list[Client] = []
    for number in range(10):
        path = tmp_path / f"client{number}.jsonl"
        files.append(path)
        address = overlay[number % 5 + 1].address
        clients.append(await Client(address, id=f"c{number}", events=path).__aenter__())
    for number, client in enumerate(clients):
        await client.advertise(f"[class,eq,'K{number % 3}'],[x,isPresent,0]")
        await client.subscribe(f"[class,eq,'K{number % 3}'],[x,>,{number * 5}]")
    await overlay.settled()
    for round_ in range(50):
        for number, client in enumerate(clients):
            await client.publish({"class": f"K{number % 3}", "x": round_})
    for number, client in enumerate(clients):
        publishers = len(range(number % 3, 10, 3))
        for _ in range(publishers * max(0, 49 - number * 5)):
            await asyncio.wait_for(anext(client), PATIENCE_S)
    for client in clients:
        await client.close()
    assert overlay.stop() == [0] * 5
    events = [
        msgspec.json.decode(line, type=LogEvent) for path in files for line in path.read_bytes().splitlines()
    ]
    assert check_deliveries(events) > 300
