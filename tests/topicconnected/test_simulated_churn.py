"""Churn of all kinds on running brokers; `overlay_plans.simulate` looks at the topics after every round."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from broker_grpc.protocols.topicconnected.overlay import bits
from broker_grpc.protocols.topicconnected.shadow import ShadowMaintenance
from testbed.topology.plan import Event
from tests.topicconnected.overlay_plans import (
    Events,
    at,
    copies,
    missing,
    of_kind,
    overlay_plan,
    simulate,
    simulate_watched,
)

MAINTENANCE = ["shadow", "naive", "low-oda"]
TOPICS = [f"t{at}" for at in range(8)]
QUICK = {"heartbeat_interval_us": 200_000, "heartbeat_timeout_us": 600_000}


def some_interests(random: Random, brokers: int = 12) -> dict[str, list[str]]:
    """B1 publishes t0 and stays; so that a broker can leave and come back, nobody else publishes."""
    interests = {
        f"B{at:02}": sorted(random.sample(TOPICS, random.randint(1, 4))) for at in range(2, brokers + 1)
    }
    return {"B01": ["t0", "t1"], **interests}


def rounds(events: Events) -> list[dict[str, Any]]:
    return [json.loads(e["content"]) for e in of_kind(events, "REPAIRED")]


def random_churn(
    random: Random, interests: dict[str, list[str]], seconds: int
) -> tuple[list[Event], set[str]]:
    """A kill, a stop or a start about every second, often several at once; and who was there all along."""
    away: set[str] = set()
    stable = set(interests)
    churn = []
    for second in range(2, seconds):
        for name in random.sample(sorted(set(interests) - {"B01"}), random.choice([1, 1, 1, 3])):
            action = "start" if name in away else random.choice(["kill", "leave"])
            if action == "start" or len(away) < 6:
                churn.append(at(second, action, name))
                away ^= {name}
                stable.discard(name)
    return churn, stable


@pytest.mark.parametrize("maintenance", MAINTENANCE)
@pytest.mark.parametrize("seed", [1, 2])
def test_random_churn(tmp_path: Path, maintenance: str, seed: int) -> None:
    random = Random(seed)
    interests = some_interests(random)
    churn, stable = random_churn(random, interests, 14)
    plan = overlay_plan(interests, {"B01": "t0"}, churn, maintenance=maintenance, run_us=18_000_000, **QUICK)
    events = simulate(plan, tmp_path)
    kinds = [r["kind"] for r in rounds(events)]
    assert kinds.count("leave") > 5
    assert kinds.count("join") > 3
    up = of_kind(events, "OVERLAY_UP")[-1]["t_us"]
    lost = missing(events, [f"s-{b}" for b in sorted(stable)], interests)
    assert [e for e in lost if e["t_us"] > up] == []
    assert set(copies(events).values()) == {1}


@pytest.mark.parametrize("maintenance", MAINTENANCE)
def test_random_churn_while_decisions_take_longer_than_what_they_are_about(
    tmp_path: Path, maintenance: str
) -> None:
    """Brokers leave and return while earlier rounds are still being computed; in the end all is connected."""
    random = Random(7)
    interests = some_interests(random)
    churn, stable = random_churn(random, interests, 10)
    takes = {"join_takes_us": 300_000, "leave_takes_us": 1_400_000}
    plan = overlay_plan(
        interests, {"B01": "t0"}, churn, maintenance=maintenance, run_us=40_000_000, **QUICK, **takes
    )
    events = simulate(plan, tmp_path)
    decided = [e["t_us"] for e in of_kind(events, "REPAIRED")]
    assert min(b - a for a, b in pairwise(decided[1:])) >= 300_000
    up = of_kind(events, "OVERLAY_UP")[-1]["t_us"]
    assert decided[-1] <= up
    published = [e["t_us"] for e in of_kind(events, "PUBLISHED")]
    assert sum(t > up for t in published) > 20
    lost = missing(events, [f"s-{b}" for b in sorted(stable)], interests)
    assert [e for e in lost if e["t_us"] > up] == []
    assert set(copies(events).values()) == {1}


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_node_and_its_backups_are_killed_at_once(tmp_path: Path, seed: int) -> None:
    interests = some_interests(Random(seed), brokers=16)
    settings = {"coverage": 1, **QUICK}  # with three covers a backup set would be nearly everybody
    _, watch = simulate_watched(
        overlay_plan(interests, {"B01": "t0"}, run_us=1_000_000, **settings), tmp_path
    )
    victims = node_and_backups(watch.coordinator.maintenance._algorithm)  # type: ignore[union-attr, arg-type]
    assert 2 <= len(victims) < len(interests) - 3
    plan = overlay_plan(
        interests, {"B01": "t0"}, [at(3, "kill", v) for v in victims], run_us=9_000_000, **settings
    )
    events = simulate(plan, tmp_path)
    assert sorted(e["peer"] for e in of_kind(events, "LEFT", detail="no heartbeat")) == sorted(victims)
    up = of_kind(events, "OVERLAY_UP")[-1]["t_us"]
    lost = missing(events, [f"s-{b}" for b in interests if b not in victims], interests)
    assert [e for e in lost if e["t_us"] > up] == []


def node_and_backups(shadow: ShadowMaintenance) -> list[str]:
    """Of the node with most links whose backups can all be spared (B01 publishes)."""
    overlay, backups = shadow.overlay, shadow.state.backups
    publisher = 1 << overlay.index["B01"]
    nodes = [i for i in bits(overlay.alive) if not (backups[i] | 1 << i) & publisher]
    chosen = max(nodes, key=lambda i: overlay.degree[i])
    return [overlay.name[i] for i in bits(backups[chosen] | 1 << chosen)]


@pytest.mark.parametrize("maintenance", MAINTENANCE)
@pytest.mark.parametrize("back_s", [4, 8])
def test_rejoin_with_other_topics(tmp_path: Path, maintenance: str, back_s: int) -> None:
    """B03 dies with its subscriber and returns with another one: before it was missed, or after."""
    interests = {"B01": ["t0", "t1"], "B02": ["t0"], "B03": ["t0", "t1"], "B04": ["t1", "t2"], "B05": ["t2"]}
    others = {"B03": ["t2"]}
    churn = [
        at(3, "kill", "B03"),
        at(3, "kill", "s-B03"),
        at(back_s, "start", "B03"),
        at(back_s + 0.4, "join", "o-B03"),
    ]
    plan = overlay_plan(
        interests,
        {"B01": "t0", "B05": "t2"},
        churn,
        others=others,
        declared=False,
        maintenance=maintenance,
        run_us=14_000_000,
    )
    events = simulate(plan, tmp_path)
    told = [e["detail"] for e in of_kind(events, "JOINED", peer="B03")]
    assert told[-1] == "other topics"
    assert ("returned with other topics" in told) == (back_s == 4), (
        "in time: one round takes it out of its topics"
    )
    assert bool(of_kind(events, "LEFT", peer="B03", detail="no heartbeat")) == (back_s == 8)
    subscribed = max(e["t_us"] for e in of_kind(events, "SUBSCRIBED", node="o-B03"))
    up = next(e["t_us"] for e in of_kind(events, "OVERLAY_UP") if e["t_us"] > subscribed)
    wanted = {**interests, "B03": []}
    stay = [f"s-{b}" for b in interests if b != "B03"]
    assert [e for e in missing(events, stay, wanted) if e["t_us"] > up] == []
    got = {e["message"] for e in of_kind(events, "DELIVERED", node="o-B03")}
    due = {e["message"] for e in of_kind(events, "PUBLISHED", node="p-B05") if e["t_us"] > up}
    assert due <= got
    assert not any(
        e["message"].startswith("p-B01") for e in of_kind(events, "PROCESSED", node="B03") if e["t_us"] > up
    ), "nobody sends it what it wanted once"


@pytest.mark.parametrize("maintenance", MAINTENANCE)
def test_the_subscribers_of_a_topic_leave_one_by_one_until_the_last(tmp_path: Path, maintenance: str) -> None:
    interests = {"B01": ["t0", "t1"], "B02": ["t0"], "B03": ["t1"], "B04": ["t1"], "B05": ["t0"], "B06": []}
    churn = [at(2, "leave", "B03"), at(3, "kill", "B04"), at(5, "leave", "B06"), at(6, "kill", "B02")]
    plan = overlay_plan(interests, {"B01": "t0"}, churn, maintenance=maintenance, run_us=9_000_000, **QUICK)
    events = simulate(plan, tmp_path)
    ends = [(r["broker"], r["nodes"], r["links"]) for r in rounds(events) if r["kind"] == "leave"]
    assert ends[:4] == [("B03", 5, 3), ("B04", 4, 2), ("B06", 3, 2), ("B02", 2, 1)]
    up = of_kind(events, "OVERLAY_UP")[-1]["t_us"]
    lost = missing(events, ["s-B01", "s-B05"], interests)
    assert [e for e in lost if e["t_us"] > up] == []
