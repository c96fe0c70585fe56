"""The table of costs: each message at the price that its broker told last."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from experiments.ci.deployment import plan_of
from experiments.ci.pricing import Pricing
from experiments.ci.workload import Setting, costs, ids
from testbed.reproduction.evidence.events import read_events
from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Options
from testbed.run.folder import RunFolder
from testbed.simulation.engine import SimulateEngine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]
SIZE = Setting(domains=4, routers=5, brokers=6, types=4, subscribers=2, ticks=3_000, publication=20.0)


def run(folder: Path, system: str) -> RunFolder:
    engine = SimulateEngine()
    made = prepare(plan_of(SIZE, "uniform", 1, system, "given"), None, folder, engine.name, "simulated")
    deploy(made, engine, Options("simulated"), lambda event: None)
    return made


def by_hand(made: RunFolder) -> dict[str, float]:
    """Of all messages of the heuristic and all notifications, from the plan's costs."""
    pricing = Pricing(ids(SIZE), [(0, costs(SIZE, 1, 10.0, 10.0)[0])], 1 << 60)
    pricing.start_us = 0
    ended = next(e.t_us for e in read_events(made.events) if e.kind == "RUN_ENDED")
    for event in read_events(made.events):
        if event.kind in ("FORWARDED", "SENT", "PROCESSED") and event.t_us < ended:
            pricing.record(event.kind, event.type, event.t_us, event.node, event.peer)
    found = dict.fromkeys(("data", "interest", "exchange"), 0.0)
    for (_, purpose), cost in pricing.costs.items():
        found["exchange" if purpose == "request" else purpose] += cost
    return found


def test_costs_are_those_of_the_plan_by_purpose(spark: SparkSession, tmp_path: Path) -> None:
    from testbed.analysis import analyze

    made = [run(tmp_path / system, system) for system in ("ci", "static")]
    analysis = analyze(made, spark=spark, write=False)
    for one in made:
        table = analysis.frame("costs", one.path.name)
        assert set(table.unpriced) == {0}
        assert list(table.window_s.drop_duplicates()) == [0, 10, 20, 30]
        wanted = {purpose: cost for purpose, cost in by_hand(one).items() if cost}
        found = table.groupby("purpose")[["links", "processing", "cost"]].sum()
        assert (found.links + found.processing).to_list() == pytest.approx(found.cost.to_list())
        got = {purpose: found.cost[purpose] for purpose in wanted}
        assert got == pytest.approx(wanted, rel=1e-4)  # prices are told with six digits
