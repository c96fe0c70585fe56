"""What other choices of readings give, beside the one that was declared."""

from __future__ import annotations

from typing import Any

import pandas

from experiments.ci.computations import Bench, Report, Tables, totals
from experiments.ci.systems import HEURISTICS
from experiments.ci.workload import Law, costs

OF_ALL_SYSTEMS: dict[str, dict[str, Any]] = {
    "as declared": {},
    "neighbourhood without itself": {"counts_itself": False},
    "independent link costs": {"independent_links": True},
    "equal load": {"equal_load": True},
    "interval 125": {"interval": 125},
    "interval 500": {"interval": 500},
    "subscriptions 5 times longer": {"subscription": 12_500.0},
}
OF_TIME: dict[str, dict[str, Any]] = {
    "changes as declared": {},
    "loads change at t1 and t2": {"new_loads": True},
    "all costs change at t1 and at t2": {"all_costs": True},
}
VARIANTS = OF_ALL_SYSTEMS | OF_TIME


def varied(report: Report, setting: dict[str, Any], law: Law, seed: int, variant: str) -> Tables:
    changed = dict(VARIANTS[variant])
    itself, redrawn = changed.pop("counts_itself", True), 2 if variant in OF_TIME else 0
    bench = Bench({**setting, **changed}, law, seed)
    all_costs = costs(bench.setting, seed, 10.0, 10.0, redrawn)
    rows = []
    for system in HEURISTICS:
        report(f"{variant}, {law}, network {seed}: {system}")
        outcome = bench.play(system, all_costs, counts_itself=itself)
        rows.append({"system": system, **totals(outcome)})
    return {"variants": pandas.DataFrame(rows)}
