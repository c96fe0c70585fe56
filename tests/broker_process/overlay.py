"""A tree of real brokers, and the three invariants of every run: no phantom, no duplicate, no missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from broker_grpc.content.language import parse_filter, parse_publication
from broker_grpc.process.tls import Authority
from protos.records import LogEvent
from tests.broker_process.broker_nodes import PATIENCE_S, BrokerNode


class Overlay:
    """Brokers B1..Bn; `edges` name them by number, the first of a pair dials."""

    def __init__(
        self,
        folder: Path,
        count: int,
        edges: Sequence[tuple[int, int]],
        *,
        options: dict[str, Any] | None = None,
        authority: Authority | None = None,
    ) -> None:
        self.nodes = [
            BrokerNode(
                folder,
                f"B{number}",
                flood=False,
                options=options,
                tls=authority.issue(f"B{number}", ["127.0.0.1"]) if authority else None,
            )
            for number in range(1, count + 1)
        ]
        for a, b in edges:
            one, other = self.nodes[a - 1], self.nodes[b - 1]
            one.config["neighbours"].append({"id": other.name, "address": other.address, "dial": True})
            other.config["neighbours"].append({"id": one.name, "address": one.address, "dial": False})

    def __getitem__(self, number: int) -> BrokerNode:
        return self.nodes[number - 1]

    @property
    def addresses(self) -> dict[str, str]:
        return {node.name: node.address for node in self.nodes}

    async def start(self) -> Overlay:
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            await node.wait_for(links=len(node.config["neighbours"]))
        return self

    async def settled(self) -> None:
        """No routing message is under way."""
        import asyncio

        last: object = None
        async with asyncio.timeout(PATIENCE_S):
            while True:
                states = [node.status() for node in self.nodes]
                sent = sum(state["control_sent"] for state in states)
                received = sum(state["control_received"] for state in states)
                if sent == received and last == (sent, received):
                    return
                last = (sent, received)
                await asyncio.sleep(0.1)

    def stop(self) -> list[int]:
        return [node.stop() for node in self.nodes if node.process.poll() is None]


def check_deliveries(events: Iterable[LogEvent]) -> int:
    """Every publication reaches exactly the clients with a matching subscription, once; returns how many.

    For runs in which all subscriptions were settled before the first publication and stayed to the end.
    """
    subscribed: dict[str, list[Any]] = {}
    published: dict[str, dict[str, Any]] = {}
    delivered: Counter[tuple[str, str]] = Counter()
    for event in events:
        if event.kind == "SUBSCRIBED":
            subscribed.setdefault(event.node, []).append(parse_filter(event.content))
        elif event.kind == "PUBLISHED":
            published[event.message] = parse_publication(event.content)
        elif event.kind == "DELIVERED":
            delivered[event.message, event.node] += 1
    expected = {
        (message, client)
        for message, attributes in published.items()
        for client, filters in subscribed.items()
        if any(one.matches(attributes) for one in filters)
    }
    assert delivered.keys() - expected == set(), "phantom deliveries"
    assert expected - delivered.keys() == set(), "missing deliveries"
    assert [pair for pair, count in delivered.items() if count > 1] == [], "duplicate deliveries"
    return len(expected)
