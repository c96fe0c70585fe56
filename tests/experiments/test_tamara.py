"""Tamara's study: workloads as declared, rivals, checks that can fail, figures of every point."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas
import pytest

from broker_grpc.protocols.clustering.costs import PAPER
from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.identifiers import key_of
from broker_grpc.protocols.ring.static import members_of
from experiments.tamara import trees, workload
from experiments.tamara.claims.curves import CLAIMS as CURVES
from experiments.tamara.claims.data import Data
from experiments.tamara.claims.tables import CLAIMS as TABLES
from experiments.tamara.claims.tables import STATED
from experiments.tamara.curve import curve, made
from experiments.tamara.figures import DRAWN, all_figures
from experiments.tamara.paper import CLAIMS, STUDY
from experiments.tamara.points import SCALES, of_seed
from experiments.tamara.systems import KMEANS, SC, SCRIBE, TAMARA, k_means, placed
from experiments.tamara.workload import MODELS, Setting, Workload, fresh, packages, shifting
from testbed.reproduction.claim import Claim, judge
from testbed.reproduction.figures.plot import draw
from testbed.reproduction.point import Point
from testbed.topology.seeding import Draw
from testbed.workload.interests import frequencies
from testbed.workload.packages import Distribution, dependencies, installed, popularity

SMALL = Setting(users=60, topics=24, each=10, group=6, days=1.0)


def wants_at_end(work: Workload) -> list[set[int]]:
    wants = [set(topics) for topics in work.before or [[]] * work.users]
    for one in work.operations:
        (wants[one.user].add if one.wanted else wants[one.user].remove)(one.topic)
    return wants


# ---------------------------------------------------------------- workloads


@pytest.mark.parametrize(("model", "mean"), [("average", 0.156), ("frequent", 0.411), ("infrequent", 0.040)])
def test_table_1_has_the_mean_frequency_that_tables_2_and_3_imply(model: str, mean: float) -> None:
    drawn = [f for seed in range(40) for f in frequencies(MODELS[model], 120, Draw(seed, "f"))]
    assert np.mean(drawn) == pytest.approx(mean, rel=0.03)


@pytest.mark.parametrize("law", ["clustered", "uniform"])
def test_a_fresh_start_ends_with_25_topics_each(law: str) -> None:
    work = fresh(replace(Setting(users=200), law=law), 1)
    assert len(work.operations) == 200 * 25
    assert [set(topics) for topics in work.final] == wants_at_end(work)
    assert all(len(topics) == 25 for topics in work.final)
    assert work.operations == sorted(work.operations, key=lambda one: one.at)
    assert 0 <= work.operations[0].at <= work.operations[-1].at <= work.period == 60 * 240


def test_clustered_interests_are_nine_tenths_in_two_groups() -> None:
    setting = Setting(users=300)
    groups = workload.laws.groups_of(120, 10, Draw(1, "groups"))
    inside = []
    for topics in fresh(setting, 1).final:
        most = sorted((len(set(topics) & set(group)) for group in groups), reverse=True)
        inside.append(sum(most[:2]))
    assert np.mean(inside) == pytest.approx(22, abs=0.1), "round(0.9 * 25), and what falls in by chance none"


def test_interests_shift_from_whole_groups_to_the_new_ones() -> None:
    work = shifting(SMALL, 1)
    assert wants_at_end(work) == [set(topics) for topics in work.final]
    assert work.before is not None
    assert all(len(set(topics)) == 2 * SMALL.group for topics in work.before)
    assert {frozenset(group) for group in work.groups} == {
        frozenset(g) for g in workload.laws.groups_of(24, 4, Draw(1, "groups"))
    }


def test_packages_follow_what_is_known_of_debian() -> None:
    law = Distribution(packages=1000)
    chances = popularity(law)
    assert chances[:100] == [1.0] * 100
    assert np.log(chances[899] / chances[199]) / np.log(900 / 200) == pytest.approx(-1.87)
    has = installed(law, 60, Draw(1, "installed"))
    needs = dependencies(law, Draw(1, "installed"))
    for mine in map(set, has):
        assert set(range(100)) <= mine
        assert all(set(needs[package]) <= mine for package in mine), "closed over dependencies"
    work = packages(20, 300, 12, 365, 1)
    per_day = [f * 2 for f in work.frequencies]
    assert 1 / 365 <= min(per_day) < max(per_day) <= 1 / 7
    assert work.period == 730


# ---------------------------------------------------------------- K-means


def test_k_means_places_users_by_the_rule_of_section_4() -> None:
    """Five groups, everyone wants one of them whole: five clusters, no direct subscription, no filter."""
    wants = [[3 * group, 3 * group + 1, 3 * group + 2] for group in range(5) for _ in range(10)]
    interested = np.array([[topic in mine for mine in wants] for topic in range(15)])
    found = placed(np.arange(15) // 3, interested, [0.1] * 15, PAPER)
    assert found.maintenance == 50 + 15
    assert found.dissemination == pytest.approx(0.1 * 15 * (1 + 11))
    best, k = k_means(wants, [0.1] * 15, PAPER, 1, 6, 5)
    assert (best.cost, k) == (pytest.approx(found.cost), 5)


# ---------------------------------------------------------------- points, claims and figures


@cache
def tables() -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Every point of a tiny scale, two seeds, computed here."""
    size = replace(SCALES["smoke"].size, setting=SMALL, sizes=((30, 24),), package_users=20, packages=60,
                   shortened=0.02, points=8, largest_k=6, restarts=2, year=30.0)  # fmt: skip
    curves, ends = [], []
    for seed in (1, 2):
        for point in [p for group in of_seed(size, seed).values() for p in group]:
            found = computed(point, seed)
            curves.append(found["curves"].assign(**point.labels))
            ends.append(found["ends"].assign(**point.labels))
    return pandas.concat(curves, ignore_index=True), pandas.concat(ends, ignore_index=True)


def computed(point: Point, seed: int) -> dict[str, pandas.DataFrame]:
    return curve(lambda line: None, **point.settings, seed=seed)


def test_every_claim_finds_its_data_and_every_figure_is_drawn(tmp_path: Path) -> None:
    data = Data(*tables(), True, [])
    verdicts = judge(CLAIMS, data, "test", STUDY.readings)
    assert [v.claim for v in verdicts if "could not be made" in v.reason] == []
    drawn = list(all_figures(data, "test"))
    assert len(drawn) == 2 * len(DRAWN)
    draw(drawn[0], tmp_path)


def test_a_claim_about_a_point_that_is_missing_is_open() -> None:
    curves, ends = tables()
    data = Data(curves, ends, True, [("packages", "M = 12 h")])
    outcomes = {v.claim: v.outcome for v in judge(CLAIMS, data, "test", STUDY.readings)}
    assert outcomes["T51-12"] == outcomes["T50"] == "unknown"
    assert outcomes["T52-2"] != "unknown"


def changed(system: str, by: float) -> Data:
    """The same tables, where a system's costs are so many times what they are."""
    curves, ends = (frame.copy() for frame in tables())
    for frame in (curves, ends):
        chosen = frame.system == system
        frame.loc[chosen, ["maintenance", "dissemination"]] *= by
    return Data(curves, ends, True, [])


@pytest.mark.parametrize(
    ("id_", "system"),
    [("T30", TAMARA), ("T22", TAMARA), ("T43-average", SC), ("T44", SC), ("T52-24", TAMARA),
     ("T41-frequent", TAMARA), ("T51-24", TAMARA)],
)  # fmt: skip
def test_claims_fail_where_costs_are_a_hundred_times_higher(id_: str, system: str) -> None:
    (claim,) = [c for c in STUDY.claims if c.id == id_]
    assert claim.check(changed(system, 100.0)).holds is False


def numbered(id_: str) -> Claim[Data]:
    return next(c for c in TABLES if c.id == id_)


@pytest.mark.parametrize("stated", [0.0, 20.0, -20.0])
def test_a_stated_number_is_met_from_both_sides(stated: float) -> None:
    """Rows made so that the OC's change is the stated one, and that far off."""
    costs = {SCRIBE: 100.0, TAMARA: 100 - 63.73 + stated, SC: 1.0, KMEANS: 1.0}
    rows = [
        {
            "scenario": "fresh",
            "model": "average",
            "seed": 1,
            "system": s,
            "maintenance": c,
            "dissemination": 0.0,
        }
        for s, c in costs.items()
    ]
    data = Data(pandas.DataFrame(), pandas.DataFrame(rows), True, [])
    assert numbered("N2-average-tamara-oc").check(data).holds == (stated == 0)


# ---------------------------------------------------------------- trees


def test_a_tree_is_the_union_of_routes_and_batching_counts_a_parent_once() -> None:
    ring = Converged(members_of(trees.peer_of(u) for u in range(40)), trees.PASTRY)
    wanted = [trees.Channel(key_of(f"topic {t}"), 0.5, list(range(t, 40, 2))) for t in range(4)]
    forest = trees.Forest(ring, wanted)
    for channel, edges in zip(wanted, forest.trees, strict=True):
        routes = [ring.route(trees.peer_of(user), channel.key) for user in channel.subscribers]
        assert edges == {pair for route in routes for pair in itertools.pairwise(route)}
    assert forest.keep_alives() == sum(map(len, forest.trees))
    twice = trees.Forest(ring, [*wanted, *wanted])
    assert twice.keep_alives() == 2 * forest.keep_alives()
    assert twice.batched() == forest.batched() <= forest.keep_alives()
    cluster = trees.Channel(key_of("cluster"), 1.0, [1, 2, 3], [channel.key for channel in wanted])
    more = trees.Forest(ring, [*wanted, cluster])
    assert more.keep_alives() == forest.keep_alives() + len(more.trees[-1]) + 4


def test_the_saving_over_trees_can_be_a_loss() -> None:
    rows = [
        {"model": m, "seed": s, "system": k, "keep_alives": a, "batched": b, "dissemination": 10.0 + s}
        for m in MODELS
        for s in (1, 2, 3)
        for k, a, b in ((SCRIBE, 100, 30), (TAMARA, 20, 40))
    ]
    outcomes = {v.claim: v.outcome for v in judge(trees.CLAIMS, pandas.DataFrame(rows), "test")}
    assert set(outcomes.values()) == {"pass", "fail"}
    assert outcomes["B1-average"] == "pass"
    assert outcomes["B2-average"] == "fail"


def test_ids_are_told_apart_and_every_number_of_tables_2_and_3_is_judged() -> None:
    ids = [claim.id for claim in (*CURVES, *TABLES)]
    assert len(ids) == len(set(ids))
    assert sum(id_.startswith("N") for id_ in ids) == 3 * len(STATED) == 45


def test_a_scale_can_be_computed_from_what_a_file_holds() -> None:
    """Arguments of every point of both scales are plain."""
    for scale in SCALES.values():
        points = [p for group in of_seed(scale.size, 1).values() for p in group]
        assert len({p.id for p in points}) == len(points) == 13 + len(scale.size.sizes)


@pytest.mark.parametrize("kind", ["fresh", "shift"])
def test_workloads_repeat(kind: str) -> None:
    make: Callable[[int], Workload] = lambda seed: made(kind, asdict(SMALL), seed)  # noqa: E731
    assert make(1) == make(1)
    assert make(1) != make(2)
