"""The load driver as the runner uses it: a process, a control line, real brokers."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from broker_grpc.content.language import parse_filter
from broker_grpc.process.clock import RunClock
from protos.records import LogEvent
from testbed.topology.plan import Client, PublicationPlan, SubscriptionPlan
from testbed.workload.driver import DriverConfig
from testbed.workload.script import advertisements_of
from testbed.workload.sources import publications
from testbed.workload.subscriptions import filters
from tests.broker_process.broker_nodes import PATIENCE_S
from tests.broker_process.nursery import nursery
from tests.broker_process.overlay import Overlay, check_deliveries


class DriverProcess:
    def __init__(self, folder: Path, config: DriverConfig) -> None:
        path = folder / "driver.json"
        path.write_bytes(msgspec.json.encode(config))
        self.events = folder / f"clients-{config.node}.jsonl"
        self._control, theirs = socket.socketpair()
        self._control.settimeout(PATIENCE_S)
        self.process = nursery().start("driver", path, folder / "driver.log", theirs)
        theirs.close()
        self._lines = self._control.makefile("rb")

    def tell(self, do: str, *clients: str) -> None:
        self._control.sendall(json.dumps({"do": do, "clients": clients}).encode() + b"\n")

    async def hear(self) -> dict[str, Any]:
        line = await asyncio.to_thread(self._lines.readline)
        assert line, "the driver closed its control line"
        message: dict[str, Any] = json.loads(line)
        return message

    async def hear_of(self, event: str, *clients: str) -> None:
        """Until that event has come for all these clients."""
        missing = set(clients)
        while missing:
            message = await self.hear()
            assert message["event"] == event, message
            missing.discard(message["client"])

    async def status(self) -> dict[str, Any]:
        self.tell("status")
        clients: dict[str, Any] = (await self.hear())["status"]["clients"]
        return clients

    def close(self) -> int:
        self._lines.close()
        self._control.close()
        return self.process.wait(PATIENCE_S)

    def logged(self) -> list[LogEvent]:
        """Whole lines: the last one may be half written."""
        lines = self.events.read_bytes().split(b"\n")[:-1]
        return [msgspec.json.decode(line, type=LogEvent) for line in lines]


@pytest.fixture
async def overlay(tmp_path: Path) -> AsyncIterator[Overlay]:
    overlay = await Overlay(tmp_path, 3, [(1, 2), (2, 3)]).start()
    yield overlay
    overlay.stop()


def publisher(period_us: int = 10_000, count: int = 0, first_us: int = 300_000) -> Client:
    plan = PublicationPlan("stock", {"symbol": "YHOO"}, period_us, first_us=first_us, count=count)
    return Client("p1", "h1", "B1", "pubs", publications=plan, seed=5)


def subscribers() -> list[Client]:
    wanted = filters("YHOO", 5)
    return [
        Client(f"s-{name}", "h1", f"B{number + 1}", "subs", subscriptions=[SubscriptionPlan(text, name)])
        for number, (name, text) in enumerate(wanted.items())
    ]


def driver(tmp_path: Path, overlay: Overlay, *clients: Client, clock_offset_us: int = 0) -> DriverProcess:
    config = DriverConfig("h1", list(clients), overlay.addresses, str(tmp_path), clock_offset_us)
    return DriverProcess(tmp_path, config)


def matching(published: Client, subscriber: Client) -> int:
    """How many of its publications this subscriber wants."""
    assert published.publications is not None
    wanted = parse_filter(subscriber.subscriptions[0].filter)
    content = islice(publications(published.publications, published.seed), published.publications.count)
    return sum(wanted.matches(attributes) for attributes in content)


async def test_a_run_with_three_rate_classes(tmp_path: Path, overlay: Overlay) -> None:
    subs, pub = subscribers(), publisher(count=200)
    # The routes are there before the first publication, however long a busy machine takes to make them.
    herald = Client("a1", "h1", "B1", advertisements=advertisements_of(pub))
    load = driver(tmp_path, overlay, herald, pub, *subs)
    assert await load.hear() == {"event": "ready"}
    load.tell("start", "a1", *(client.id for client in subs))
    await load.hear_of("started", "a1", *(client.id for client in subs))
    await overlay.settled()
    load.tell("start", "p1")
    await load.hear_of("started", "p1")
    due = {client.id: matching(pub, client) for client in subs}
    async with asyncio.timeout(PATIENCE_S):
        while due != {id_: (await load.status())[id_]["delivered"] for id_ in due}:
            await asyncio.sleep(0.05)
    status = await load.status()
    assert status["s-high"] == {
        "connected": True, "subscribed": 1, "wanted": 1, "published": 0, "delivered": 200,
    }  # fmt: skip
    load.tell("stop", "s-low")
    await load.hear_of("stopped", "s-low")
    assert load.close() == 0
    events = load.logged()
    assert check_deliveries(events) == sum(client["delivered"] for client in status.values())
    shares = {name: status[f"s-{name}"]["delivered"] / 200 for name in ("low", "medium")}
    assert shares["low"] == pytest.approx(0.10, abs=0.06)
    assert shares["medium"] == pytest.approx(0.50, abs=0.1)
    delivered = [event for event in events if event.kind == "DELIVERED"]
    assert {(event.node, event.group, event.hops) for event in delivered} == {
        ("s-low", "low", 0), ("s-medium", "medium", 1), ("s-high", "high", 2),
    }  # fmt: skip
    assert all(0 < event.published_us <= event.t_us for event in delivered)
    assert [event.n for event in events] == list(range(1, len(events) + 1))


async def test_the_schedule_does_not_drift(tmp_path: Path, overlay: Overlay) -> None:
    """Each publication is late by itself (this machine is busy). If that added up, none after a thousand
    would ever be as punctual again as the first ones were."""
    period_us = 2_000
    load = driver(tmp_path, overlay, publisher(period_us))
    await load.hear()
    load.tell("start", "p1")
    await load.hear_of("started", "p1")
    late: list[int] = []
    async with asyncio.timeout(PATIENCE_S):
        while len(late) <= 1_000 or min(late[1_000:]) - min(late[:100]) > 5_000:
            await asyncio.sleep(0.5)
            times = [event.t_us for event in load.logged() if event.kind == "PUBLISHED"]
            late = [t - n * period_us for n, t in enumerate(times)]
    assert load.close() == 0


async def test_kill_start_again_and_quiet(tmp_path: Path, overlay: Overlay) -> None:
    load = driver(tmp_path, overlay, publisher(first_us=10_000), *subscribers())
    await load.hear()
    load.tell("start", "p1", "s-high")
    await load.hear_of("started", "p1", "s-high")
    load.tell("kill", "s-high")
    await load.hear_of("stopped", "s-high")
    await overlay[3].wait_for(clients=0, subscriptions=0)
    load.tell("start", "s-high")
    await load.hear_of("started", "s-high")
    load.tell("kill", "p1")
    await load.hear_of("stopped", "p1")
    load.tell("start", "p1", "nobody")
    heard = [await load.hear() for _ in range(2)]
    assert {message["event"]: message["client"] for message in heard} == {"started": "p1", "failed": "nobody"}
    async with asyncio.timeout(PATIENCE_S):
        while (await load.status())["p1"]["published"] <= 5:
            await asyncio.sleep(0.05)
    load.tell("quiet")
    load.tell("nonsense")
    published = (await load.status())["p1"]["published"]
    await asyncio.sleep(0.3)
    assert (await load.status())["p1"]["published"] == published
    load.tell("shutdown")
    assert load.process.wait(PATIENCE_S) == 0
    ids = [event.message for event in load.logged() if event.kind == "PUBLISHED"]
    assert len(ids) == len(set(ids))


async def test_timed_subscriptions(tmp_path: Path, overlay: Overlay) -> None:
    """Never early. How late is up to the machine here; `test_script.py` has a clock that is exact."""
    late = SubscriptionPlan("[class,eq,'A']", at_us=200_000, until_us=3_000_000)
    clock = RunClock()
    client = Client("c1", "h1", "B1", subscriptions=[late])
    load = driver(tmp_path, overlay, client, clock_offset_us=clock.offset_us)
    await load.hear()
    before = clock.now_us()
    load.tell("start", "c1")
    await load.hear_of("started", "c1")
    async with asyncio.timeout(PATIENCE_S):
        while "UNSUBSCRIBED" not in (times := {event.kind: event.t_us for event in load.logged()}):
            await asyncio.sleep(0.1)
    assert before + 200_000 <= times["SUBSCRIBED"] <= times["UNSUBSCRIBED"]
    assert before + 3_000_000 <= times["UNSUBSCRIBED"]
    await overlay[1].wait_for(subscriptions=0)
    assert load.close() == 0


async def test_a_client_whose_subscription_is_refused_fails(tmp_path: Path, overlay: Overlay) -> None:
    bad = Client("c1", "h1", "B1", subscriptions=[SubscriptionPlan("[price,>,1]")])
    worse = Client("c2", "h1", "B1", publications=PublicationPlan("stok", {}))
    load = driver(tmp_path, overlay, bad, worse)
    await load.hear()
    load.tell("start", "c1", "c2")
    heard = [await load.hear() for _ in range(2)]
    assert {message["client"] for message in heard if message["event"] == "failed"} == {"c1", "c2"}
    assert load.close() == 0
