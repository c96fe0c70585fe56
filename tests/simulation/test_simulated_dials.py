"""Simulated brokers that dial each other."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.simulator import START_US, Simulator
from testbed.topology.plan import Event, Gate, OverlayLink, Phase, Plan
from tests.simulation.chains import LATENCY_US, chain, of_kind, simulate


def both_dial(plan: Plan) -> Plan:
    for link in plan.overlay:
        link.dial = "both"
    return plan


def ups_and_downs(events: list[dict[str, Any]]) -> dict[tuple[str, str], list[str]]:
    """Of every end of a link, until the run ends."""
    found: dict[tuple[str, str], list[str]] = {}
    ended = of_kind(events, "RUN_ENDED")[0]["t_us"]
    for e in events:
        if e["kind"] in ("LINK_UP", "LINK_DOWN") and e["t_us"] < ended:
            found.setdefault((e["node"], e["peer"]), []).append(e["kind"])
    return found


@pytest.mark.parametrize("links", [((0, 1), (1, 2)), ((1, 0), (2, 1))])
def test_of_two_dials_at_once_the_smaller_ids_stays(
    tmp_path: Path, links: tuple[tuple[int, int], ...]
) -> None:
    """It was dialled, so it is up half a round trip earlier; the other dial is refused once and rests."""
    plan = chain(3)
    plan.overlay = [OverlayLink(f"B{a}", f"B{b}", "both") for a, b in links]
    events = simulate(plan, tmp_path)
    neighbours = [(a, b) for a in range(3) for b in range(3) if abs(a - b) == 1]
    assert ups_and_downs(events) == {(f"B{a}", f"B{b}"): ["LINK_UP"] for a, b in neighbours}
    up = {(e["node"], e["peer"]): e["t_us"] for e in of_kind(events, "LINK_UP")}
    for smaller, larger in (("B0", "B1"), ("B1", "B2")):
        assert up[smaller, larger] - up[larger, smaller] == 2 * LATENCY_US
    refused = [(e["node"], e.get("peer", "")) for e in of_kind(events, "REFUSED")]
    assert sorted(refused) == [("B0", ""), ("B1", ""), ("B1", "B0"), ("B2", "B1")]
    got = Counter((e["node"], e["message"]) for e in of_kind(events, "DELIVERED"))
    assert got == Counter(
        {(f"s{i}", e["message"]): 1 for i in range(3) for e in of_kind(events, "PUBLISHED")}
    )


def test_a_hello_that_crossed_the_stream_that_is_up_is_refused(tmp_path: Path) -> None:
    """B1 begins to dial when B0's dial has reached it, and is heard when B0's stream is up at both ends."""
    plan = both_dial(chain(2))
    first = Phase("first", ["B0"], Gate(after_us=3 * LATENCY_US))
    plan.phases = [first, Phase("second", ["B1"], Gate(links_up=True)), *plan.phases[1:]]
    events = simulate(plan, tmp_path)
    assert ups_and_downs(events) == {("B0", "B1"): ["LINK_UP"], ("B1", "B0"): ["LINK_UP"]}
    up = {e["node"]: e["t_us"] for e in of_kind(events, "LINK_UP") if e["node"].startswith("B")}
    refused = next(e for e in of_kind(events, "REFUSED"))
    assert refused["node"] == "B0"
    assert refused["t_us"] > up["B0"] > up["B1"]
    assert refused["detail"].startswith("duplicate: 'B1' is already connected")


def test_an_end_whose_dial_lost_dials_when_the_stream_that_stayed_is_lost(tmp_path: Path) -> None:
    """B0, whose stream stayed, closes it and wants none any more: B1's wish stands."""
    log = SimulatedLog(tmp_path / "x.jsonl")
    simulator = Simulator(both_dial(chain(2)), log, lambda tell: None)
    simulator.begin()
    while simulator.agenda.now_us < START_US + 2_000_000:
        simulator.step(1)
    assert simulator.streams.is_live("B0", "B1")
    closed_us = simulator.agenda.now_us
    simulator.streams.close("B0", "B1", "enough", redial=False)
    while simulator.step(1000):
        pass
    log.close()
    events = [json.loads(line) for line in (tmp_path / "x.jsonl").read_bytes().splitlines()]
    seen: dict[str, list[tuple[str, int]]] = {"B0": [], "B1": []}
    for e in events:
        if e["kind"] in ("LINK_UP", "LINK_DOWN") and e["node"] in seen:
            seen[e["node"]].append((e["kind"], e["t_us"] - closed_us))
    assert [kind for kind, _ in seen["B0"]] == ["LINK_UP", "LINK_DOWN", "LINK_UP"]
    assert [kind for kind, _ in seen["B1"]] == ["LINK_UP", "LINK_DOWN", "LINK_UP"]
    assert seen["B0"][-1][1] == seen["B1"][-1][1] - 2 * LATENCY_US  # B1 dialled it
    assert 100_000 < seen["B1"][-1][1] < 300_000  # after one pause, and in the round trips of a dial


SOME_TIME_US = st.integers(1_000_000, 12_000_000)


@settings(max_examples=25)
@given(
    kills=st.dictionaries(st.sampled_from(["B0", "B1", "B2"]), SOME_TIME_US, max_size=3),
    cuts=st.lists(SOME_TIME_US, max_size=2),
    away_us=st.integers(5_000, 3_000_000),
)
def test_both_ends_dial_and_every_link_is_up_again_after_any_faults(
    tmp_path_factory: pytest.TempPathFactory, kills: dict[str, int], cuts: list[int], away_us: int
) -> None:
    """Brokers killed and started again, a path cut for so long that heartbeats give links up."""
    faults = [Event("publishers", at, "kill", broker) for broker, at in kills.items()]
    faults += [Event("publishers", at + away_us, "start", broker) for broker, at in kills.items()]
    for number, at in enumerate(sorted(cuts)):
        begin = at + number * 16_000_000
        faults += [Event("publishers", begin, "link_down", "l1")]
        faults += [Event("publishers", begin + 2 * away_us, "link_up", "l1")]
    plan = both_dial(chain(3, sorted(faults, key=lambda e: e.at_us), run_for_us=60_000_000))
    for broker in plan.brokers:
        broker.options = {
            "heartbeat_interval_us": 500_000, "heartbeat_timeout_us": 400_000, "heartbeat_threshold": 2,
        }  # fmt: skip
    events = simulate(plan, tmp_path_factory.mktemp("run"))
    ends = ups_and_downs(events)
    assert {kinds[-1] for kinds in ends.values()} == {"LINK_UP"}
    last = max((e["t_us"] for e in of_kind(events, "FAULT_ENDED")), default=0)
    late = [e["message"] for e in of_kind(events, "PUBLISHED") if e["t_us"] > last + 8_000_000]
    got = Counter((e["node"], e["message"]) for e in of_kind(events, "DELIVERED"))
    assert late
    assert {got[f"s{i}", message] for i in range(3) for message in late[:-1]} == {1}
    assert set(got.values()) == {1}
