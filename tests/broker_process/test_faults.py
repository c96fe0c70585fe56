"""Faults in the middle of traffic through real brokers: what may be lost is lost, nothing else happens."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from broker_grpc.client.api import Client
from broker_grpc.content.language import parse_filter, parse_publication
from broker_grpc.errors import ProtocolError
from broker_grpc.process.transport import LINK, StreamLost
from protos.client_messages import Subscription
from protos.contentbased_messages import DiscoveryRequest
from protos.core_messages import Ack, Refusal
from protos.records import LogEvent
from tests.broker_process.broker_nodes import PATIENCE_S, Poker
from tests.broker_process.overlay import Overlay, check_deliveries

ALL = 1_000_000  # notifications, more than ever come


def events_of(*paths: Path) -> list[LogEvent]:
    return [
        msgspec.json.decode(line, type=LogEvent) for path in paths for line in path.read_bytes().splitlines()
    ]


async def test_a_neighbour_killed_in_mid_stream(tmp_path: Path) -> None:
    """No phantom and no duplicate ever, and nothing missing once all is settled again."""
    overlay = await Overlay(tmp_path, 4, [(1, 2), (2, 3), (2, 4)]).start()
    paths = [tmp_path / f"{name}.jsonl" for name in ("alice", "bob", "carol")]
    async with (
        Client(overlay[1].address, id="alice", events=paths[0]) as alice,
        Client(overlay[3].address, id="bob", events=paths[1], notifications=ALL) as bob,
        Client(overlay[1].address, id="carol", events=paths[2], notifications=ALL) as carol,
    ):
        await alice.advertise("[class,eq,'X'],[n,isPresent,0]")
        await bob.subscribe("[class,eq,'X'],[n,>,20]")
        await carol.subscribe("[class,eq,'X']")
        await overlay.settled()
        numbers = iter(range(1_000_000))

        async def keep_publishing() -> None:
            while True:
                await alice.publish({"class": "X", "n": next(numbers)})
                await asyncio.sleep(0.002)

        publishing = asyncio.create_task(keep_publishing())
        await asyncio.sleep(0.5)
        overlay[2].kill()
        await overlay[1].wait_for(links=0)
        await overlay[3].wait_for(links=0)
        overlay[2].config["incarnation"] = 2
        overlay[2].start()
        await overlay[2].wait_for(links=3, advertisements=1, subscriptions=1)
        await overlay.settled()
        publishing.cancel()
        settled = next(numbers)
        for _ in range(200):
            last = next(numbers)
            await alice.publish({"class": "X", "n": last})
        for client in (bob, carol):
            async with asyncio.timeout(PATIENCE_S):
                while (await anext(client)).attributes["n"] != last:
                    pass
    overlay.stop()

    events = events_of(*paths)
    content = {e.message: parse_publication(e.content) for e in events if e.kind == "PUBLISHED"}
    wanted = {"bob": parse_filter("[class,eq,'X'],[n,>,20]"), "carol": parse_filter("[class,eq,'X']")}
    seen = [(event.node, event.message) for event in events if event.kind == "DELIVERED"]
    assert len(seen) == len(set(seen)), "duplicates"
    assert all(wanted[node].matches(content[message]) for node, message in seen), "phantoms"
    after = {message for message, attributes in content.items() if int(attributes["n"]) > settled}
    assert len(after) == 200
    assert {message for node, message in seen if node == "bob"} >= after
    # Carol sits at the publisher's own broker: the fault is none of hers.
    assert {message for node, message in seen if node == "carol"} == set(content)


async def test_a_deaf_subscriber_costs_the_others_nothing(tmp_path: Path) -> None:
    options = {"output_queue_messages": 100, "output_queue_bytes": 1 << 20}
    overlay = await Overlay(tmp_path, 2, [(1, 2)], options=options).start()
    paths = [tmp_path / "alice.jsonl", tmp_path / "bob.jsonl"]
    deaf = await Poker(overlay[2].address, "deaf").greet()
    await deaf.send(Subscription("", "deaf", parse_filter("[class,eq,'X']").predicates), request=1)
    assert isinstance((await deaf.receive()).body, Ack)
    async with (
        Client(overlay[1].address, id="alice", events=paths[0]) as alice,
        Client(overlay[2].address, id="bob", events=paths[1]) as bob,
    ):
        await alice.advertise("[class,eq,'X']")
        await bob.subscribe("[class,eq,'X']")
        await overlay.settled()
        for number in range(2000):
            await alice.publish({"class": "X", "n": number}, payload=bytes(2000))
            if number % 20 == 19:  # bob keeps up, however busy the machine is
                for due in range(number - 19, number + 1):
                    assert (await asyncio.wait_for(anext(bob), PATIENCE_S)).attributes["n"] == due
    told = ""
    while not told:  # it reads at last, and is told what it missed
        body = (await deaf.receive()).body
        told = body.detail if isinstance(body, Refusal) else ""
    await deaf.close()
    status = overlay[2].status()
    overlay.stop()
    assert check_deliveries(events_of(*paths)) == 2000
    dropped = overlay[2].logged("DROPPED")
    assert len(dropped) == status["dropped"] > 0
    assert {event.peer for event in dropped} == {"deaf"}
    assert overlay[1].logged("DROPPED") == []
    notified = [event for event in overlay[2].logged("NOTIFIED") if event.peer == "deaf"]
    assert told == f"{len(dropped)} publications for you did not fit into the output queue"
    assert len(notified) + len(dropped) == 2000, "a message that was dropped was not sent"
    assert status["deliveries"] == 2000 + len(notified)


async def test_a_graceful_end_empties_the_queues_of_the_service_model(tmp_path: Path) -> None:
    """Ten publications of 100 bytes and more at 10 kB/s take a tenth of a second to leave."""
    overlay = await Overlay(tmp_path, 1, [], options={"output_bandwidth": 10_000}).start()
    path = tmp_path / "bob.jsonl"
    async with (
        Client(overlay[1].address, id="alice") as alice,
        Client(overlay[1].address, id="bob", events=path) as bob,
    ):
        await alice.advertise("[class,eq,'X']")
        await bob.subscribe("[class,eq,'X']")
        for number in range(10):
            await alice.publish({"class": "X", "n": number}, payload=bytes(100))
        while overlay[1].status()["publications"] < 10:
            await asyncio.sleep(0.01)
        assert overlay[1].stop() == 0
        for number in range(10):
            assert (await asyncio.wait_for(anext(bob), PATIENCE_S)).attributes["n"] == number
    assert len(overlay[1].logged("NOTIFIED")) == 10


async def test_a_second_path_is_refused_for_good(tmp_path: Path) -> None:
    """B3, played by hand, links to B1 and to B2, which are linked; B1's check comes back by B2."""
    overlay = await Overlay(tmp_path, 2, [(1, 2)]).start()
    overlay.stop()
    for node in overlay.nodes:
        node.config["neighbours"].append({"id": "B3", "address": "127.0.0.1:1", "dial": False})
        node.config["incarnation"] = 2
        node.start()
    await overlay[1].wait_for(links=1)
    to_two = await Poker(overlay[2].address, "B3", method=LINK).greet(kind="broker")
    to_one = await Poker(overlay[1].address, "B3", method=LINK).greet(kind="broker")
    while not isinstance(check := (await to_one.receive()).body, DiscoveryRequest):
        pass
    await to_two.send(check)
    with pytest.raises((StreamLost, AssertionError)):
        await read_on(to_one)
    for incarnation in (2, 3):
        with pytest.raises(ProtocolError, match="not a tree"):
            await Poker(overlay[1].address, "B3", method=LINK).greet(incarnation, kind="broker")
    await overlay[1].wait_for(links=1)
    for poker in (to_one, to_two):
        await poker.close()
    overlay.stop()
    assert [event.peer for event in overlay[1].logged("LINK_UP") if event.peer == "B3"] == ["B3"]
    assert any("not a tree" in event.detail for event in overlay[1].logged("REFUSED"))


async def read_on(poker: Poker) -> None:
    while True:
        await poker.receive()
