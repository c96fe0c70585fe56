"""Brokers and coordinator on the simulator: floods, joins, leaves, kills, a restarted coordinator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.topicconnected.overlay_plans import (
    Events,
    at,
    copies,
    missing,
    of_kind,
    overlay_plan,
    ready_us,
    simulate,
)

# news: all; sport: a chain of brokers that share it; weather: two; alone: one subscriber.
INTERESTS = {
    "B1": ["news", "sport"],
    "B2": ["news", "sport", "weather"],
    "B3": ["news"],
    "B4": ["news", "sport"],
    "B5": ["news", "alone"],
    "B6": ["news", "weather", "sport"],
}
PUBLISHERS = {"B1": "news", "B2": "sport", "B5": "alone"}
MAINTENANCE = ["shadow", "naive", "low-oda"]


def rounds(events: Events) -> list[dict[str, object]]:
    return [json.loads(e["content"]) for e in of_kind(events, "REPAIRED")]


@pytest.mark.parametrize("maintenance", MAINTENANCE)
def test_every_subscriber_gets_every_publication_once_and_nobody_relays(
    tmp_path: Path, maintenance: str
) -> None:
    events = simulate(
        overlay_plan(INTERESTS, PUBLISHERS, maintenance=maintenance, run_us=5_000_000), tmp_path
    )
    assert missing(events, [f"s-{b}" for b in INTERESTS], INTERESTS) == []
    assert set(copies(events).values()) == {1}
    published = {e["message"]: e["content"] for e in of_kind(events, "PUBLISHED")}
    for e in of_kind(events, "PROCESSED"):
        topic = published[e["message"]].split("[class,'")[1].split("'")[0]
        assert topic in INTERESTS[e["node"]], "a broker handled a topic that it does not share"
    assert [r["kind"] for r in rounds(events)] == ["build"]


@pytest.mark.parametrize("maintenance", MAINTENANCE)
def test_a_killed_broker_is_noticed_by_its_silence_and_deliveries_resume(
    tmp_path: Path, maintenance: str
) -> None:
    victims = busiest(
        simulate(overlay_plan(INTERESTS, PUBLISHERS, maintenance=maintenance, run_us=1_000_000), tmp_path)
    )
    victim = next(v for v in victims if v not in ("B1", "B2"))  # they publish
    events = simulate(
        overlay_plan(INTERESTS, PUBLISHERS, [at(5, "kill", victim)], maintenance=maintenance), tmp_path
    )
    killed = ready_us(events) + 5_000_000
    left = of_kind(events, "LEFT", peer=victim)
    assert [e["detail"] for e in left] == ["no heartbeat"]
    assert killed < left[0]["t_us"] <= killed + 3_000_000 + 20_000
    up = next(e["t_us"] for e in of_kind(events, "OVERLAY_UP") if e["t_us"] >= left[0]["t_us"])
    lost = missing(events, [f"s-{b}" for b in INTERESTS if b != victim], INTERESTS)
    assert all(killed - 50_000 <= e["t_us"] <= up for e in lost), "lost outside of the gap"
    assert set(copies(events).values()) == {1}
    assert rounds(events)[-1]["kind"] == "leave"


def busiest(events: Events) -> list[str]:
    """Brokers by overlay degree, highest first."""
    links: dict[str, set[str]] = {}
    for e in of_kind(events, "FORWARDED"):
        links.setdefault(e["node"], set()).add(e["peer"])
        links.setdefault(e["peer"], set()).add(e["node"])
    return sorted(links, key=lambda b: (-len(links[b]), b))


def test_a_stopped_broker_says_farewell_and_the_repair_does_not_wait(tmp_path: Path) -> None:
    events = simulate(overlay_plan(INTERESTS, PUBLISHERS, [at(5, "leave", "B4")]), tmp_path)
    left = of_kind(events, "LEFT", peer="B4")
    assert [e["detail"] for e in left] == ["farewell: stopped"]
    assert left[0]["t_us"] - (ready_us(events) + 5_000_000) < 100_000


@pytest.mark.parametrize("maintenance", MAINTENANCE)
def test_a_broker_joins_a_running_overlay(tmp_path: Path, maintenance: str) -> None:
    plan = overlay_plan(
        INTERESTS,
        PUBLISHERS,
        [at(5, "join", "B6"), at(8, "join", "s-B6")],
        later=["B6"],
        maintenance=maintenance,
    )
    events = simulate(plan, tmp_path)
    assert [e["detail"] for e in of_kind(events, "JOINED", peer="B6")] == ["joined"]
    others = [f"s-{b}" for b in INTERESTS if b != "B6"]
    assert missing(events, others, INTERESTS) == [], "links are kept until the new ones are up"
    subscribed = max(e["t_us"] for e in of_kind(events, "SUBSCRIBED", node="s-B6"))
    late = [e for e in missing(events, ["s-B6"], INTERESTS) if e["t_us"] > subscribed + 100_000]
    assert late == []


def test_a_restarted_coordinator_recovers_the_overlay_from_the_brokers(tmp_path: Path) -> None:
    plan = overlay_plan(
        INTERESTS, PUBLISHERS, [at(3, "kill", "C"), at(6, "start", "C"), at(15, "kill", "B4")]
    )
    events = simulate(plan, tmp_path)
    kinds = [r["kind"] for r in rounds(events)]
    assert kinds == ["build", "recover", "leave"]
    built, recovered = rounds(events)[:2]
    assert recovered["added"] == 0, "nothing was missing"
    assert recovered["links"] == built["links"]
    started = ready_us(events)
    stable = [f"s-{b}" for b in INTERESTS if b != "B4"]
    early = [e for e in missing(events, stable, INTERESTS) if e["t_us"] < started + 14_900_000]
    assert early == [], "publications flow without a coordinator"


@pytest.mark.parametrize("down_s", [5, 23])
def test_brokers_that_redial_late_are_waited_for(tmp_path: Path, down_s: int) -> None:
    """Without a coordinator they dial ever more rarely, at last every five seconds."""
    events_ = [at(3, "kill", "C"), at(3 + down_s, "start", "C")]
    plan = overlay_plan(INTERESTS, PUBLISHERS, events_, run_us=(18 + down_s) * 1_000_000)
    events = simulate(plan, tmp_path)
    assert [(r["kind"], r["added"]) for r in rounds(events)] == [("build", 5), ("recover", 0)]
    assert missing(events, [f"s-{b}" for b in INTERESTS], INTERESTS) == []


def test_the_coordinator_dies_before_it_has_repaired_a_leave(tmp_path: Path) -> None:
    victims = busiest(simulate(overlay_plan(INTERESTS, PUBLISHERS, run_us=1_000_000), tmp_path))
    victim = next(v for v in victims if v not in ("B1", "B2"))
    plan = overlay_plan(
        INTERESTS, PUBLISHERS, [at(3, "kill", victim), at(5.87, "kill", "C"), at(10, "start", "C")]
    )
    events = simulate(plan, tmp_path)
    assert "recover" in [r["kind"] for r in rounds(events)]  # late brokers join after it
    up = of_kind(events, "OVERLAY_UP")[-1]["t_us"]
    stable = [f"s-{b}" for b in INTERESTS if b != victim]
    assert [e for e in missing(events, stable, INTERESTS) if e["t_us"] > up] == []
    assert set(copies(events).values()) == {1}


def test_the_coordinator_dies_in_the_middle_of_opening_links(tmp_path: Path) -> None:
    """The links of a join take 90 ms to open; the coordinator is killed 45 ms into it."""
    plan = overlay_plan(
        INTERESTS,
        PUBLISHERS,
        [at(5, "join", "B6"), at(5.37, "kill", "C"), at(8, "start", "C"), at(12, "join", "s-B6")],
        later=["B6"],
    )
    events = simulate(plan, tmp_path)
    assert "recover" in [r["kind"] for r in rounds(events)]  # late brokers join after it
    subscribed = max(e["t_us"] for e in of_kind(events, "SUBSCRIBED", node="s-B6"))
    everybody = missing(events, [f"s-{b}" for b in INTERESTS], INTERESTS)
    assert [e for e in everybody if e["t_us"] > subscribed + 100_000] == []


def test_a_broker_and_those_that_could_stand_in_leave_at_once(tmp_path: Path) -> None:
    plan = overlay_plan(INTERESTS, PUBLISHERS, [at(5, "kill", b) for b in ("B3", "B4", "B6")])
    events = simulate(plan, tmp_path)
    assert sorted(e["peer"] for e in of_kind(events, "LEFT")) == ["B3", "B4", "B6"]
    up = of_kind(events, "OVERLAY_UP")[-1]["t_us"]
    lost = missing(events, ["s-B1", "s-B2", "s-B5"], INTERESTS)
    assert [e for e in lost if e["t_us"] > up] == []


def test_a_killed_broker_that_returns_in_time_keeps_its_place(tmp_path: Path) -> None:
    plan = overlay_plan(INTERESTS, PUBLISHERS, [at(5, "kill", "B4"), at(6, "start", "B4")])
    events = simulate(plan, tmp_path)
    assert of_kind(events, "LEFT") == []
    assert [e["detail"] for e in of_kind(events, "JOINED", peer="B4")][-1] == "returned"
    assert [r["kind"] for r in rounds(events)] == ["build"]
    up = of_kind(events, "OVERLAY_UP")[-1]["t_us"]
    stable = [f"s-{b}" for b in INTERESTS if b != "B4"]
    assert [e for e in missing(events, stable, INTERESTS) if e["t_us"] > up] == []


def test_a_broker_that_left_returns(tmp_path: Path) -> None:
    plan = overlay_plan(INTERESTS, PUBLISHERS, [at(5, "kill", "B4"), at(15, "start", "B4")])
    events = simulate(plan, tmp_path)
    assert [r["kind"] for r in rounds(events)] == ["build", "leave", "join"]


def test_a_broker_with_no_topics_holds_no_links(tmp_path: Path) -> None:
    interests = {**INTERESTS, "B7": []}
    plan = overlay_plan(interests, PUBLISHERS, [at(5, "kill", "B7")], run_us=15_000_000)
    events = simulate(plan, tmp_path)
    assert [r["added"] for r in rounds(events) if r["kind"] == "leave"] == [0]
    assert of_kind(events, "PROCESSED", node="B7") == []


def test_the_last_subscriber_leaves_and_returns(tmp_path: Path) -> None:
    plan = overlay_plan(INTERESTS, {"B1": "news"}, [at(3, "kill", "B5"), at(12, "start", "B5")])
    events = simulate(plan, tmp_path)
    up = of_kind(events, "OVERLAY_UP")[-1]["t_us"]
    assert [e for e in missing(events, ["s-B5"], INTERESTS) if e["t_us"] > up + 6_000_000] == []
