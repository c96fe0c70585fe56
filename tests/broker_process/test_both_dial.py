"""Two real broker processes that dial each other, through relays that say when and how fast."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from protos.client_messages import Publication
from tests.broker_process.broker_nodes import PATIENCE_S, BrokerNode, Poker
from tests.broker_process.relay import Relay


class Pair:
    """B1 and B2; `to` has the relay in front of each."""

    def __init__(self, folder: Path) -> None:
        self.nodes = {name: BrokerNode(folder, name) for name in ("B1", "B2")}
        self.to = {name: Relay(node.address) for name, node in self.nodes.items()}
        for one, other in (("B1", "B2"), ("B2", "B1")):
            neighbour = {"id": other, "address": self.to[other].address, "dial": True}
            self.nodes[one].config["neighbours"] = [neighbour]

    async def start(self) -> None:
        """Both have dialled, and nothing of it has come through."""
        for relay in self.to.values():
            await relay.start()
        for node in self.nodes.values():
            node.start()
        for relay in self.to.values():
            await relay.wait_for(came=1)

    async def linked(self) -> None:
        for node in self.nodes.values():
            await node.wait_for(links=1)

    def count(self, kind: str, type_: str = "") -> Counter[str]:
        found = [e for node in self.nodes.values() for e in node.logged(kind) if e.type == type_]
        return Counter(event.node for event in found)

    async def stop(self) -> None:
        for node in self.nodes.values():
            if node.process.poll() is None:
                node.stop()
        for relay in self.to.values():
            await relay.stop()


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[Pair]:
    pair = Pair(tmp_path)
    await pair.start()
    yield pair
    await pair.stop()


async def carry(pair: Pair, count: int = 100) -> None:
    """Publications both ways, each of them once and in order."""
    pokers = [await Poker(node.address, f"at-{name}").greet() for name, node in pair.nodes.items()]
    for node in pair.nodes.values():
        await node.wait_for(clients=1)
    for number in range(count):
        for poker in pokers:
            await poker.send(Publication(f"{poker.name}:{number}", poker.name, "a", 1, {"class": "X"}, b""))
    for poker, other in zip(pokers, reversed(pokers), strict=True):
        got = [(await poker.receive()).body.id for _ in range(count)]
        assert got == [f"{other.name}:{number}" for number in range(count)]
    for poker in pokers:
        await poker.close()


@pytest.mark.parametrize("first", ["both", "slowly", "B1", "B2"])
async def test_of_two_dials_at_once_the_smaller_ids_stays(pair: Pair, first: str) -> None:
    """B1's; B2's own is refused, whichever of them comes through first, and not tried again."""
    if first == "slowly":
        for relay in pair.to.values():
            relay.delay_s = 0.02
    elif first == "B1":
        pair.to["B2"].release()
        await pair.linked()
    elif first == "B2":
        pair.to["B1"].release()
        await pair.to["B1"].wait_for(came=2)  # refused, and dialled again
    for relay in pair.to.values():
        relay.release()
    await pair.linked()
    await pair.to["B1"].wait_for(open_=0)
    came = pair.to["B1"].came
    await carry(pair)
    await asyncio.sleep(0.5)  # longer than a redial would wait
    assert (pair.to["B1"].came, pair.to["B2"].came) == (came, 1)
    assert (pair.to["B1"].open, pair.to["B2"].open) == (0, 1)
    await pair.stop()
    assert pair.count("LINK_UP") == {"B1": 1 + 1, "B2": 1 + 1}  # the client's stream is one too
    details = {e.detail for e in pair.nodes["B1"].logged("REFUSED")}
    assert details
    assert all(detail.startswith("duplicate: ") for detail in details)
    assert pair.count("REFUSED", "hello")["B2"] >= 1


async def test_whoever_lost_dials_again_when_the_stream_that_stayed_is_lost(pair: Pair) -> None:
    for relay in pair.to.values():
        relay.release()
    await pair.linked()
    await pair.to["B1"].wait_for(open_=0)
    await pair.to["B2"].stop()  # and nobody can dial B2 any more
    await pair.to["B1"].wait_for(open_=1)
    await pair.linked()
    await carry(pair)


async def test_a_restarted_process_takes_over_from_either_end(pair: Pair) -> None:
    for relay in pair.to.values():
        relay.release()
    await pair.linked()
    for name, other in (("B1", "B2"), ("B2", "B1")):
        node = pair.nodes[name]
        node.kill()
        await pair.nodes[other].wait_for(links=0)
        node.config["incarnation"] += 1
        node.start()
        await pair.linked()
        await carry(pair)
    async with asyncio.timeout(PATIENCE_S):
        while pair.to["B1"].open + pair.to["B2"].open != 1:
            await asyncio.sleep(0.01)
