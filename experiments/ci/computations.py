"""What is computed by flow: one network under one law of the static tree, all systems on the same traffic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas

from experiments.ci.systems import CI, HEURISTICS, STATIC
from experiments.ci.workload import TICK_US, Law, Setting, clients, costs, ids, phases_us, tree
from testbed.flow.selforganising.play import Costs, Outcome, Setup, play
from testbed.flow.selforganising.windows import Windows
from testbed.flow.traffic import traffic_of

GAMMA = 20.0
PURPOSES = ("data", "interest", "request", "exchange")
Report = Callable[[str], None]
Tables = dict[str, pandas.DataFrame]


class Bench:
    """One network: traffic, phases and tree are drawn once, and played with other costs, eta and systems."""

    def __init__(self, setting: dict[str, Any], law: Law, seed: int) -> None:
        self.setting = Setting(**setting)
        self.seed = seed
        numbers = {name: n for n, name in enumerate(ids(self.setting))}
        self.traffic = traffic_of(clients(self.setting, seed), numbers, self.setting.end_us)
        self.phases = phases_us(self.setting, seed)
        self.windows = Windows(self.traffic, self.phases, self.setting.interval * TICK_US)
        self.edges = tree(self.setting, law, seed)

    def play(
        self, system: str, costs: list[Costs], eta: int = 4, counts_itself: bool = True
    ) -> Outcome:  # fmt: skip
        every = self.setting.end_us // len(costs)
        changes = [(every * k, one) for k, one in enumerate(costs) if k]
        setup = Setup(
            self.traffic, self.edges, costs[0], changes, self.phases, self.setting.interval * TICK_US, eta,
            sample_us=self.setting.sample * TICK_US, counts_itself=counts_itself,
        )  # fmt: skip
        return play(setup, HEURISTICS[system], self.windows)


def adaptivity(report: Report, setting: dict[str, Any], law: Law, seed: int) -> Tables:
    """Figure 4: costs every 1,000 ticks, by purpose."""
    bench = Bench(setting, law, seed)
    all_costs = costs(bench.setting, seed, 10.0, 10.0, redrawn=2)
    rows: list[dict[str, Any]] = []
    for system in HEURISTICS:
        report(f"figure 4, {law}, network {seed}: {system}")
        rows += sampled(bench.play(system, all_costs), system)
    return {"samples": pandas.DataFrame(rows)}


def neighbourhoods(report: Report, setting: dict[str, Any], law: Law, seed: int, etas: list[int]) -> Tables:
    """Figure 5: accumulated costs, by eta."""
    bench = Bench(setting, law, seed)
    all_costs = costs(bench.setting, seed, 10.0, 10.0)
    rows = [{"system": STATIC, "eta": 0, **totals(bench.play(STATIC, all_costs))}]
    for eta in etas:
        report(f"figure 5, {law}, network {seed}: eta {eta}")
        rows.append({"system": CI, "eta": eta, **totals(bench.play(CI, all_costs, eta))})
    return {"etas": pandas.DataFrame(rows)}


def weights(report: Report, setting: dict[str, Any], law: Law, seed: int, alphas: list[float]) -> Tables:
    """Figure 6: accumulated costs, by alpha."""
    bench, rows = Bench(setting, law, seed), []
    for alpha in alphas:
        report(f"figure 6, {law}, network {seed}: alpha {alpha}")
        all_costs = costs(bench.setting, seed, (1 - alpha) * GAMMA, alpha * GAMMA)
        for system in HEURISTICS:
            rows.append({"system": system, "alpha": alpha, **totals(bench.play(system, all_costs))})
    return {"alphas": pandas.DataFrame(rows)}


def sampled(outcome: Outcome, system: str) -> list[dict[str, Any]]:
    by_time: dict[int, dict[str, Any]] = {}
    for row in outcome.ledger.rows:
        tick = int(row["at_us"]) // TICK_US
        empty = {"system": system, "tick": tick, **dict.fromkeys(PURPOSES, 0.0)}
        by_time.setdefault(tick, empty)[str(row["purpose"])] = round(float(row["cost"]), 1)
    return list(by_time.values())


def totals(outcome: Outcome) -> dict[str, Any]:
    sums = dict.fromkeys(PURPOSES, 0.0)
    for row in outcome.ledger.rows:
        sums[str(row["purpose"])] += float(row["cost"])
    return {purpose: round(cost, 1) for purpose, cost in sums.items()} | {"exchanges": len(outcome.exchanges)}
