"""The POP/GRAPE experiment: which runs a figure needs, what is measured, how claims are judged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pandas
import pytest

from experiments.pop_grape.claims.data import Data, Failed
from experiments.pop_grape.claims.declared import CLAIMS
from experiments.pop_grape.figures import PANELS, all_figures
from experiments.pop_grape.measures import averages, delays, overhead_ratio, per_second_and_broker
from experiments.pop_grape.paper import STUDY
from experiments.pop_grape.points import (
    FIGURE_GROUPS,
    FULL,
    SMOKE,
    Planned,
    groups,
    planned_points,
    wanted_groups,
)
from experiments.pop_grape.sensitivity import VARIANTS, planned, steady
from experiments.pop_grape.sensitivity import figures as sensitivity_figures
from experiments.pop_grape.state import CLAIMS as STATE
from experiments.pop_grape.systems import ALL_SYSTEMS, BASELINE, SYSTEMS, WEIGHTED
from protos.catalogue import builtin
from protos.records import Manifest
from testbed.emulation.host.engine import HostEngine
from testbed.errors import InputError, TestbedError
from testbed.reproduction.claim import judge
from testbed.reproduction.evidence.evidence import Evidence
from testbed.reproduction.reproduce import reproduce
from testbed.reproduction.request import Request
from testbed.run.engine import Ability
from testbed.run.folder import RunFolder
from testbed.sweep.grid import point_id
from testbed.sweep.point import Done, Task, plan_of
from testbed.topology.file.document import read_document

FIGURES, MAIN = STUDY.figures, STUDY.parts[0]
FOLDER = Path(__file__).parents[2] / "experiments" / "pop_grape"


# ---------------------------------------------------------------- runs


def test_every_figure_of_the_report_can_be_asked_for() -> None:
    assert {f"5{letter}" for letter in "abcdefgh"} | {f"6{letter}" for letter in "abcdefgh"} <= set(FIGURES)


@pytest.mark.parametrize("figure", FIGURE_GROUPS)
def test_a_figure_runs_what_it_needs_and_no_more(figure: str) -> None:
    names = wanted_groups(FULL, [figure], "simulate")
    assert set(names) == set(FIGURE_GROUPS[figure])
    assert 0 < len(planned_points(FULL, names)) < len(planned_points(FULL, groups(FULL)))


def test_the_full_guest_set_is_the_wide_area_one() -> None:
    """Baseline, POP, load100 and delay100; clustered at five values of X with 1 and 63, random at two."""
    points = planned_points(FULL, wanted_groups(FULL, [], "guest"))
    assert len(points) == 28
    assert {p.testbed for p in points} == {"planetlab"}
    assert {p.system for p in points} == set(SYSTEMS)
    assert {p.spread for p in points if p.workload == "clustered"} == {1, 4, 16, 32, 63}
    assert [p.spread for p in points[:12]] == [1] * 4 + [16] * 4 + [63] * 4


def test_an_engine_that_cannot_run_here_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostEngine, "probe", lambda self: Ability(False, "no netem", "use --engine guest"))
    request = Request("pop-grape", "smoke", tmp_path, engine="host", report=lambda line: None)
    with pytest.raises(TestbedError, match="the host engine cannot run here: no netem"):
        reproduce(STUDY, request)
    assert list(tmp_path.iterdir()) == []


def test_the_study_of_lost_settings_is_for_the_simulator(tmp_path: Path) -> None:
    request = Request("pop-grape", "full", tmp_path, ("sensitivity",), "guest", report=lambda line: None)
    with pytest.raises(InputError, match="on the simulator only"):
        reproduce(STUDY, request)
    assert list(tmp_path.iterdir()) == []


def test_a_variant_of_the_lost_settings_changes_one_thing() -> None:
    ours, *others = [planned(FULL, v) for v in VARIANTS]
    for variant, chosen in zip(VARIANTS[1:], others, strict=True):
        for a, b in zip(ours, chosen, strict=False):
            changed = {k: v for k, v in b.settings.items() if a.settings.get(k) != v}
            assert changed == variant.changes
        plan_of(Task("t", str(FOLDER / "planetlab.yaml"), "simulate", "", 1, chosen[0].settings))


def test_the_study_draws_each_setting_with_our_own_value_among_its_values() -> None:
    rows = [
        {
            "variant": v.name, "workload": p.workload, "spread": p.spread, "system": p.system,
            "message_rate": FACTORS[p.system][0], "delay_ms": FACTORS[p.system][1],
            "client_delay_ms": FACTORS[p.system][1],
        }
        for v in VARIANTS
        for p in planned(FULL, v)
    ]  # fmt: skip
    drawn = {f.id: f for f in sensitivity_figures(pandas.DataFrame(rows), 16, "simulated")}
    assert len(drawn) == 12
    matching = drawn["figsensitivity-matching-message_rate"]
    assert list(matching.series[0].x) == [0.5, 5.0, 100.0]
    assert list(matching.series[0].y) == [0.15] * 3  # POP's, of the baseline's


def test_a_conclusion_hangs_on_a_setting_when_its_verdict_changes() -> None:
    claim = steady(next(c for c in CLAIMS if c.id == "F5a"))
    rows = [("ours", "pass"), ("5 publishers", "pass"), ("10 Mbit/s", "fail"), ("20 publishers", "unknown")]
    table = pandas.DataFrame([{"variant": v, "claim": "F5a", "outcome": o, "reason": ""} for v, o in rows])
    assert claim.check(table).holds is False
    assert "10 Mbit/s: fail" in claim.check(table).measured
    assert claim.check(table[table.outcome != "fail"]).holds is True
    assert claim.check(table.replace("pass", "unknown")).holds is None
    assert claim.check(table[table.variant == "ours"]).holds is None  # compared with nothing


@pytest.mark.parametrize(("ours", "shared"), [("planetlab", "planetlab-63"), ("cluster", "cluster-127")])
def test_the_two_testbeds_are_those_of_the_shipped_topologies(ours: str, shared: str) -> None:
    """The clients differ: theirs are for a quick look."""
    here = read_document(FOLDER / f"{ours}.yaml").data
    there = read_document(FOLDER.parents[1] / "topologies" / f"{shared}.yaml").data
    for part in ("network", "brokers", "overlay"):
        assert here[part] == there[part], part


def test_no_run_is_planned_twice() -> None:
    points = planned_points(FULL, groups(FULL))
    ids = [point_id(p.settings, 1) + p.testbed for p in points]
    assert len(set(ids)) == len(ids)
    assert {p.system for p in points} == set(ALL_SYSTEMS)


def test_a_publisher_and_its_subscribers_run_on_one_machine() -> None:
    """5.1, and at X = 63 they hold subscriptions at nearly every broker."""
    point = next(p for p in planned_points(FULL, ["planetlab clustered"]) if p.spread == 63)
    plan = plan_of(Task("t", str(FOLDER / "planetlab.yaml"), "simulate", "", 1, point.settings))
    node = {c.id: c.node for c in plan.clients}
    subscribers = [c for c in plan.clients if c.id.startswith("sub-pub1-")]
    assert {c.node for c in subscribers} == {node["pub1"]}
    assert len({c.broker for c in subscribers}) >= 60
    high = {c.broker for c in subscribers if c.subscriptions[0].group == "high"}
    assert len(high) == 1


def done(results: Path, point: Planned, seed: int, engine: str) -> None:
    """As a sweep would have left it; the run has no more than a manifest."""
    name = point_id(point.settings, seed)
    folder = results / f"pop-grape-{point.testbed}" / "points" / name
    run = RunFolder(folder / "run")
    run.path.mkdir(parents=True)
    run.write_manifest(Manifest(run=name, engine=engine, seed=seed))
    (folder / "done.json").write_bytes(msgspec.json.encode(Done(name, 0, "run", "", 1.0)))


def test_runs_of_another_engine_are_not_judged_as_this_one(tmp_path: Path) -> None:
    """With the option that starts no run, too."""
    runs = tmp_path / "pop_grape" / "full" / "runs"
    for point in planned_points(FULL, wanted_groups(FULL, ["5a"], "simulate")):
        done(runs, point, 1, "guest")
    request = Request(
        "pop-grape", "full", tmp_path, ("5a",), "", 1, lambda line: None, "no such master", only_done=True
    )
    verdicts = reproduce(STUDY, request)
    assert {v.outcome for v in verdicts} == {"unknown"}
    assert json.loads((runs.parent / "manifest.json").read_bytes())["runs"] == 0


# ---------------------------------------------------------------- measures


def test_a_rate_is_an_average_over_all_brokers() -> None:
    assert per_second_and_broker(240, windows=6, brokers=4) == 1.0


def test_overhead_is_the_share_of_relocation_messages_between_brokers() -> None:
    sent = {"publication": 60, "trace_result": 20, "migration_update": 10, "subscription": 10}
    assert overhead_ratio(sent, builtin()) == 0.3
    assert overhead_ratio({}, builtin()) == 0.0


# ---------------------------------------------------------------- claims and figures

FACTORS = {  # of the baseline's value: message rate, delay, hops
    "baseline": (1.0, 1.0, 6.0), "POP": (0.15, 0.6, 3.0),
    "load100": (0.1, 0.7, 4.0), "delay100": (0.35, 0.4, 2.0),
}  # fmt: skip


def made_up() -> Data:
    """Runs that behave as the report says, where the claims about curves look."""
    rows = []
    for point in planned_points(FULL, groups(FULL)):
        rate, delay, hops = FACTORS.get(point.system, FACTORS["load100"])
        rows.append(
            {
                "testbed": point.testbed, "system": point.system, "workload": point.workload,
                "spread": point.spread, "seed": 1, "message_rate": rate, "input_utilisation": rate,
                "output_utilisation": rate, "publication_rate": rate, "delay_ms": 500 * delay,
                "hops": 0.0 if point.spread == 1 else hops,
                "client_delay_ms": 500 * delay, "client_hops": 0.0 if point.spread == 1 else hops,
                "overloaded_at_end": 0, "busiest_at_end": 0.1,
                "overhead": 0.3 if point.system.startswith("POP") else 0.03, "overloaded": 0, "busiest": 0.1,
                "missing": 0, "duplicates": 0, "deliveries": 1000, "memory_mb": float("nan"),
            }
        )  # fmt: skip
    moves = [
        {
            "testbed": "planetlab", "system": system, "workload": "clustered", "spread": 16, "seed": 1,
            "event": event, "advertisement": f"a{path}", "t_us": 100 + at, "from": "B1", "to": "B2",
            "path": path if event == "selected" else 0, "duration_s": 0.2 * path, "ping_s": 0.0,
        }
        for system in ("POP", "load100", "delay100", "delay1")
        for path in range(1, 11)
        for at, event in enumerate(("selected", "migrated"))
    ]  # fmt: skip
    return Data(pandas.DataFrame(rows), pandas.DataFrame(moves))


def test_claims_hold_where_the_runs_are_as_the_report_says() -> None:
    outcome = {v.claim: v.outcome for v in judge(CLAIMS, made_up(), "")}
    for claim in ("G2", "F5a", "F5a1", "F5c", "F5c2", "F5d", "F5f", "G12a", "F6c", "G18", "G22", "G15"):
        assert outcome[claim] == "pass", claim


def test_every_claim_has_its_own_name() -> None:
    assert len({c.id for c in CLAIMS}) == len(CLAIMS)
    others = {c.id for c in STATE}
    assert {f"G{n}" for n in range(1, 23)} - {"G12"} <= {c.id for c in CLAIMS} | others
    assert not others & {c.id for c in CLAIMS}


@pytest.mark.parametrize(
    ("claim", "system", "column", "value"),
    [
        ("F5a", "load100", "message_rate", 2.0), ("F5c", "delay100", "client_delay_ms", 900.0),
        ("F5c-delivery", "delay100", "delay_ms", 900.0), ("G2-each", "POP", "message_rate", 0.9),
        ("C1", "POP", "input_utilisation", 1.1), ("C1r", "POP", "client_delay_ms", 900.0),
        ("G12a", "POP", "overhead", 0.2), ("G12b", "delay100", "overhead", 0.3),
        ("G7", "POP", "overhead", 0.03),
        ("G22", "POP", "missing", 1), ("G22", "POP", "duplicates", 1), ("F5f", "load100", "overhead", 0.5),
        ("G2", "POP", "message_rate", 0.9), ("F5a1", "POP", "client_hops", 2.0),
        ("W7p", "delay1", "publication_rate", 0.9),
    ],
)  # fmt: skip
def test_a_claim_can_fail(claim: str, system: str, column: str, value: float) -> None:
    data = made_up()
    runs = data.runs.copy()
    runs.loc[runs.system == system, column] = value
    assert {v.claim: v.outcome for v in judge(CLAIMS, replace(data, runs=runs), "")}[claim] == "fail"


def test_delays_and_hops_are_judged_over_clients_and_again_over_deliveries() -> None:
    """5.2: "all graphs use average values across all brokers or clients"."""
    data = made_up()
    runs = data.runs.copy()
    runs.loc[runs.system == "delay100", "client_delay_ms"] = 900.0
    outcome = {v.claim: v.outcome for v in judge(CLAIMS, replace(data, runs=runs), "")}
    assert (outcome["F5c"], outcome["F5c-delivery"]) == ("fail", "pass")
    second = {c.id.removesuffix("-delivery") for c in CLAIMS if c.id.endswith("-delivery")}
    assert {"G3", "G6", "F5c", "F5x", "F5d", "W1"} <= second
    assert all("average" in c.readings for c in CLAIMS if c.id.removesuffix("-delivery") in second)


def test_rows_that_were_averaged_over_deliveries_only_say_nothing_about_clients() -> None:
    data = made_up()
    old = data.runs.drop(columns=["client_delay_ms", "client_hops"])
    verdicts = {v.claim: v for v in judge(CLAIMS, replace(data, runs=old), "")}
    assert verdicts["F5c"].outcome == "unknown"
    assert verdicts["F5c"].reason.startswith("the runs of these rows were averaged over deliveries only")
    assert verdicts["F5c-delivery"].outcome == "pass"
    some = data.runs.copy()
    some.loc[(some.system == "POP") & (some.spread == 16), ["client_delay_ms", "client_hops"]] = float("nan")
    curve = replace(data, runs=some).curve("planetlab", "clustered", "POP", "delay_ms")
    assert set(curve.index) == {1, 4, 32, 63}  # an X of which a seed is not known is not compared


def test_an_average_is_over_clients_however_much_each_gets() -> None:
    got = pandas.DataFrame([("high", 100, 2)] * 3 + [("low", 500, 6)], columns=["client", "delay_us", "hops"])
    found = averages(got)
    assert (found["client_delay_ms"], found["client_hops"]) == (0.3, 4.0)
    assert (found["delay_ms"], found["hops"]) == (0.2, 3.0)


def test_the_distribution_of_delays_is_over_clients_and_over_deliveries() -> None:
    """Of what was published in the last quarter."""
    rows = [("a", 10, 1_000, 1), ("a", 95, 3_000, 1), ("b", 96, 5_000, 1), ("b", 97, 9_000, 1)]
    delivered = pandas.DataFrame(rows, columns=["client", "published_us", "delay_us", "hops"])
    run = Evidence(1, 0, 0, 100, delivered, pandas.DataFrame(), {}, 0, 0, [])
    found = {row["share"]: row for row in delays(run)}
    assert (found[0.0]["client_delay_ms"], found[1.0]["client_delay_ms"]) == (3.0, 7.0)
    assert (found[0.5]["delay_ms"], found[1.0]["delay_ms"]) == (5.0, 9.0)


def test_what_was_not_run_is_unknown_never_pass() -> None:
    data = made_up()
    runs = data.runs[(data.runs.system == BASELINE) & (data.runs.testbed == "planetlab")]
    verdicts = {v.claim: v for v in judge(CLAIMS, Data(runs, data.moves.iloc[:0]), "")}
    passed = [name for name, v in verdicts.items() if v.outcome == "pass"]
    assert passed == ["G15", "G15-linear"]  # computed, not run


def test_a_claim_that_rests_on_a_failed_run_is_unknown_and_others_are_judged() -> None:
    """One seed of POP's failed on PlanetLab: its curve is not trusted; the cluster's claims stand."""
    lost = Failed("planetlab", "clustered", "POP", 16, 2)
    before = {v.claim: v.outcome for v in judge(CLAIMS, made_up(), "")}
    after = {v.claim: v for v in judge(CLAIMS, replace(made_up(), failed=(lost,)), "")}
    for claim in ("G2", "F5a", "F5a1", "G22", "G18", "C1"):
        assert after[claim].outcome == "unknown", claim
        assert after[claim].reason == f"rests on what failed: {lost}"
    for claim in ("F5d", "F5f", "G12a", "G5", "G6", "G7"):
        assert after[claim].outcome == before[claim] != "unknown", claim


def test_a_conclusion_is_open_when_runs_of_a_variant_failed() -> None:
    claim = steady(next(c for c in CLAIMS if c.id == "F5a"))
    rows = [("ours", "pass", ""), ("5 publishers", "unknown", "rests on what failed: POP")]
    table = pandas.DataFrame([{"variant": v, "claim": "F5a", "outcome": o, "reason": r} for v, o, r in rows])
    [verdict] = judge([claim], table, "")
    assert verdict.outcome == "unknown"
    assert verdict.reason == "rests on what failed: runs with 5 publishers"


def test_figures_carry_their_provenance_and_a_name_that_can_be_asked_for() -> None:
    drawn = list(all_figures(made_up(), "guest engine"))
    assert {"figpage-5", "figpage-6", "figpaired-5c"} <= {f.id for f in drawn}
    assert {"fig5a", "fig5h", "fig6a", "fig6b", "fig6c"} <= {f.id for f in drawn}
    assert all(f.provenance.startswith("guest engine") for f in drawn)
    assert all("inputs" in f.provenance for f in drawn if f.id in ("fig5b", "fig5c"))
    assert {MAIN.figure_of(f.id) for f in drawn} <= set(FIGURES)
    assert {MAIN.figure_of(f"fig{name}") for name, *_ in PANELS} <= set(FIGURES)


def test_weights_of_both_metrics_are_run() -> None:
    points = planned_points(FULL, ["weights"])
    assert {p.system for p in points} == set(WEIGHTED)
    assert len(planned_points(SMOKE, wanted_groups(SMOKE, [], "guest"))) == 12
