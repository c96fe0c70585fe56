"""Readings of POP and GRAPE one at a time, and brokers under load: what is run, and how it is judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas
import pytest

from broker_grpc.protocols.relocation.selection import BrokerStatistics, Tree, estimates
from experiments.pop_grape import loaded, reading_study
from experiments.pop_grape.claims.once import as_printed, ours, worst_case
from experiments.pop_grape.paper import STUDY
from experiments.pop_grape.points import FULL
from experiments.pop_grape.printed import Printed
from experiments.pop_grape.reading_study import DEFAULT, VARIANTS, planned, turned
from experiments.pop_grape.systems import ALL_SYSTEMS
from testbed.reproduction.claim import judge
from testbed.reproduction.collect import points_of
from testbed.reproduction.reproduce import ask_of
from testbed.reproduction.request import Request
from testbed.sweep.point import Task, plan_of

FOLDER = Path(loaded.__file__).parent


def points(name: str, seeds: int = 0) -> list[Any]:
    part = next(p for p in STUDY.parts if p.name == name)
    request = Request("pop-grape", "full", Path("none"), (name,), "simulate", seeds, lambda line: None)
    return points_of(part.points(ask_of(part, request)))


# ---------------------------------------------------------------- readings


def test_a_variant_changes_its_reading_of_its_systems_and_nothing_else() -> None:
    default = planned(FULL, VARIANTS[0])
    for variant in VARIANTS[1:]:
        for ours_, other in zip(default, planned(FULL, variant), strict=True):
            changed = {k for k, v in other.settings.items() if ours_.settings.get(k) != v}
            wanted = {*variant.changes} | ({"algorithm"} if variant.algorithm else set())
            assert changed == (wanted if other.system in variant.systems else set()), variant.name
            plan_of(Task("t", str(FOLDER / "planetlab.yaml"), "simulate", "", 1, other.settings))


def test_every_choice_of_the_algorithms_readings_but_the_default_is_a_variant() -> None:
    varied = {v.reading.id for v in VARIANTS if v.reading}
    for reading in STUDY.readings:
        if reading.id in varied:
            others = {v.choice for v in VARIANTS if v.reading is reading}
            assert others == set(reading.choices) - {reading.default}, reading.id
    assert varied == {"output-delay", "ping", "own-candidate", "rows", "late-row", "internal"}


def test_what_a_reading_does_not_touch_is_run_once() -> None:
    found = points("readings", 1)
    assert len(found) == 8 * len(VARIANTS)
    assert len({p.key for p in found}) == 8 + 2 * sum(len(v.systems) for v in VARIANTS)


def test_a_verdict_names_the_reading_it_rests_on() -> None:
    claim = reading_study.read_so(reading_study.CONCLUSIONS[0], VARIANTS[1])
    assert claim.id.endswith("@link-latency")
    assert "output-delay" in claim.readings
    assert "output-delay: with the link's latency" in claim.statement


def test_conclusions_that_turn_with_a_reading_are_told() -> None:
    rows = [
        ("default", "F5c", "fail"),
        ("link latency", "F5c", "pass"),
        ("default", "G2", "pass"),
        ("link latency", "G2", "pass"),
        ("default", "G6", "unknown"),
        ("link latency", "G6", "pass"),
    ]
    table = pandas.DataFrame(rows, columns=["variant", "claim", "outcome"])
    assert list(turned(table).index) == ["F5c"]
    assert VARIANTS[0].name == DEFAULT


# ---------------------------------------------------------------- load


def runs(**overloaded: tuple[int, int, int, int]) -> loaded.Loaded:
    """ms30=(baseline, POP, load100, delay100)"""
    rows = [
        {"matching_ms": int(ms.removeprefix("ms")), "system": system, "overloaded_at_end": n}
        for ms, counts in overloaded.items()
        for system, n in zip(loaded.ALL, counts, strict=True)
    ]
    return loaded.Loaded(pandas.DataFrame(rows))


@pytest.mark.parametrize(
    ("seen", "outcome"),
    [
        ({"ms30": (0, 0, 0, 0), "ms60": (1, 2, 0, 3)}, ("pass", "pass", "pass")),
        ({"ms60": (1, 2, 1, 3)}, ("fail", "fail", "fail")),
        ({"ms60": (2, 4, 0, 3)}, ("fail", "pass", "pass")),
        ({"ms60": (2, 2, 0, 3), "ms90": (9, 9, 2, 9)}, ("pass", "fail", "pass")),
        ({"ms30": (0, 0, 0, 0)}, ("unknown", "unknown", "unknown")),
        ({"ms90": (9, 9, 0, 9)}, ("unknown", "pass", "pass")),
    ],
)
def test_overloads_are_judged_where_the_baseline_has_one_to_three(
    seen: dict[str, Any], outcome: tuple[str, ...]
) -> None:
    """5.2: "at about 1-3 internal brokers in our baseline, POP, and GRAPE's delay100 experiments"."""
    assert tuple(v.outcome for v in judge(loaded.CLAIMS, runs(**seen), "")) == outcome


def test_the_sweep_goes_over_the_matching_time_and_all_of_it_is_drawn() -> None:
    found = points("loaded")
    assert {p.labels["matching_ms"] for p in found} == set(loaded.MATCHING_MS)
    plan = plan_of(Task("t", str(FOLDER / "planetlab.yaml"), "simulate", "", 1, found[0].settings))
    publishers = [c for c in plan.clients if c.id.startswith("pub")]
    assert len(publishers) == 20
    assert {b.options["matching_us"] for b in plan.brokers} == {1000 * found[0].labels["matching_ms"]}
    data = runs(ms30=(0, 0, 0, 0), ms60=(1, 2, 0, 3))
    table = data.runs.assign(busiest_at_end=0.5, client_delay_ms=3.0, message_rate=1.0)
    drawn = {f.id: f for f in loaded.figures(table, "simulated")}
    assert list(drawn["figloaded-overloaded-at-end"].series[0].x) == [30, 60]
    assert set(ALL_SYSTEMS) >= {s.label for s in drawn["figloaded-busiest-at-end"].series}


# ---------------------------------------------------------------- 4.2: computed as printed


def test_the_printed_algorithms_and_the_brokers_select_alike() -> None:
    brokers, pings = worst_case()
    assert ours(brokers, pings) == as_printed(brokers, pings)
    line = [
        BrokerStatistics(f"B{i}", [f"B{i - 1}", f"B{i + 1}"], 1 << i, i % 3, 10, 5, {f"B{i + 1}": 7, "": 2})
        for i in range(12)
    ]
    names = [b.id for b in line]
    assert Printed(line).estimates(names, {}) == estimates(Tree(line), names, {})
