"""The load driver as the runner uses it: a process, a control line, real brokers."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from protos.records import LogEvent
from testbed.topology.plan import Client, PublicationPlan, SubscriptionPlan
from testbed.workload.driver import DriverConfig
from testbed.workload.subscriptions import filters

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "broker_process"))

from nursery import nursery  # noqa: E402
from overlay import Overlay, check_deliveries  # noqa: E402


class DriverProcess:
    def __init__(self, folder: Path, config: DriverConfig) -> None:
        path = folder / "driver.json"
        path.write_bytes(msgspec.json.encode(config))
        self.events = folder / f"clients-{config.node}.jsonl"
        self._control, theirs = socket.socketpair()
        self._control.settimeout(20)
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
        return self.process.wait(20)

    def logged(self) -> list[LogEvent]:
        return [msgspec.json.decode(line, type=LogEvent) for line in self.events.read_bytes().splitlines()]


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


def driver(tmp_path: Path, overlay: Overlay, *clients: Client) -> DriverProcess:
    return DriverProcess(tmp_path, DriverConfig("h1", list(clients), overlay.addresses, str(tmp_path)))


async def test_a_run_with_three_rate_classes(tmp_path: Path, overlay: Overlay) -> None:
    subs = subscribers()
    load = driver(tmp_path, overlay, publisher(count=200), *subs)
    assert await load.hear() == {"event": "ready"}
    load.tell("start", *(client.id for client in subs))
    await load.hear_of("started", *(client.id for client in subs))
    load.tell("start", "p1")
    await load.hear_of("started", "p1")
    await overlay.settled()
    async with asyncio.timeout(20):
        while (await load.status())["s-high"]["delivered"] < 200:  # the one that is farthest away
            await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
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
    load = driver(tmp_path, overlay, publisher(period_us=5_000, count=300))
    await load.hear()
    load.tell("start", "p1")
    await load.hear_of("started", "p1")
    async with asyncio.timeout(20):
        while (await load.status())["p1"]["published"] < 300:
            await asyncio.sleep(0.05)
    load.close()
    times = [event.t_us for event in load.logged() if event.kind == "PUBLISHED"]
    assert len(times) == 300
    # Each publication is late by itself (this machine is busy), but lateness never adds up.
    span = times[-1] - times[0]
    assert abs(span - 299 * 5_000) < 100_000
    late = sorted(t - times[0] - n * 5_000 for n, t in enumerate(times))
    assert late[150] - late[0] < 10_000


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
    await asyncio.sleep(0.3)
    load.tell("quiet")
    load.tell("nonsense")
    published = (await load.status())["p1"]["published"]
    assert published > 5
    await asyncio.sleep(0.3)
    assert (await load.status())["p1"]["published"] == published
    load.tell("shutdown")
    assert load.process.wait(20) == 0
    ids = [event.message for event in load.logged() if event.kind == "PUBLISHED"]
    assert len(ids) == len(set(ids))


async def test_timed_subscriptions(tmp_path: Path, overlay: Overlay) -> None:
    late = SubscriptionPlan("[class,eq,'A']", at_us=200_000, until_us=500_000)
    load = driver(tmp_path, overlay, Client("c1", "h1", "B1", subscriptions=[late]))
    await load.hear()
    load.tell("start", "c1")
    await load.hear_of("started", "c1")
    await overlay[1].wait_for(subscriptions=1)
    await overlay[1].wait_for(subscriptions=0)
    load.close()
    events = {event.kind: event.t_us for event in load.logged()}
    assert events["SUBSCRIBED"] - events["CONNECTED"] > 100_000
    assert 250_000 < events["UNSUBSCRIBED"] - events["SUBSCRIBED"] < 2_000_000


async def test_a_client_whose_subscription_is_refused_fails(tmp_path: Path, overlay: Overlay) -> None:
    bad = Client("c1", "h1", "B1", subscriptions=[SubscriptionPlan("[price,>,1]")])
    worse = Client("c2", "h1", "B1", publications=PublicationPlan("stok", {}))
    load = driver(tmp_path, overlay, bad, worse)
    await load.hear()
    load.tell("start", "c1", "c2")
    heard = [await load.hear() for _ in range(2)]
    assert {message["client"] for message in heard if message["event"] == "failed"} == {"c1", "c2"}
    assert load.close() == 0
