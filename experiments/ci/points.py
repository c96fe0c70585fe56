"""Which computations there are: a network and a law of the static tree each, all systems on the same
traffic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import pandas

from experiments.ci.systems import CI, HEURISTICS, LAWS, STATIC
from experiments.ci.workload import TICK_US, Law, Setting, clients, costs, ids, phases_us, tree
from testbed.flow.selforganising.play import Costs, Outcome, Setup, play
from testbed.flow.selforganising.windows import Windows
from testbed.flow.traffic import traffic_of
from testbed.reproduction.collect import Groups
from testbed.reproduction.point import Label, Point, computed
from testbed.reproduction.study import Ask, Scale

GAMMA = 20.0
PURPOSES = ("data", "interest", "request", "exchange")
SOURCES = (
    *(
        f"broker_grpc.protocols.selforganising.{name}"
        for name in ("consensus", "evaluation", "heuristics", "intervals", "neighbourhood")
    ),
    "testbed.flow.selforganising",
    *(f"testbed.flow.{name}" for name in ("ledger", "traffic", "tree")),
    *(f"experiments.ci.{name}" for name in ("networks", "systems", "workload")),
)
Report = Callable[[str], None]
Tables = dict[str, pandas.DataFrame]


@dataclass(frozen=True)
class Size:
    setting: Setting
    short: int  # ticks of figures 5 and 6
    etas: tuple[int, ...]
    alphas: tuple[float, ...]


SMALL = Setting(domains=10, routers=20, brokers=24, types=16, subscribers=5, ticks=18_000)
SCALES = {
    "smoke": Scale(Size(SMALL, 3_000, (1, 2, 4, 6), (0.0, 0.5, 1.0)), seeds=3),
    "full": Scale(
        Size(Setting(), 25_000, (1, 2, 3, 4, 5, 6, 7, 8), tuple(a / 10 for a in range(11))), seeds=25
    ),
}


# ---------------------------------------------------------------- computations


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


VARIANTS: dict[str, dict[str, Any]] = {
    "as declared": {},
    "neighbourhood without itself": {"counts_itself": False},
    "equal load": {"equal_load": True},
    "interval 125": {"interval": 125},
    "interval 500": {"interval": 500},
    "subscriptions 5 times longer": {"subscription": 12_500.0},
}


def varied(report: Report, setting: dict[str, Any], law: Law, seed: int, variant: str) -> Tables:
    """What another choice gives, on figure 5's length."""
    changed = dict(VARIANTS[variant])
    itself = changed.pop("counts_itself", True)
    bench = Bench({**setting, **changed}, law, seed)
    all_costs = costs(bench.setting, seed, 10.0, 10.0)
    rows = [
        {"system": system, **totals(bench.play(system, all_costs, counts_itself=itself))}
        for system in HEURISTICS
    ]
    return {"variants": pandas.DataFrame(rows)}


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


# ---------------------------------------------------------------- points


def points(ask: Ask[Size]) -> Groups:
    """A group per figure and law."""
    size, wanted = ask.size, ask.request.figures or ("4", "5", "6")
    short = replace(size.setting, ticks=size.short)
    made: dict[str, tuple[str, Setting, dict[str, Any]]] = {
        "4": ("adaptivity", size.setting, {}),
        "5": ("neighbourhoods", short, {"etas": list(size.etas)}),
        "6": ("weights", short, {"alphas": list(size.alphas)}),
    }
    return {
        f"{figure}-{law}": [point(figure, *made[figure], law, seed) for seed in ask.seeds]
        for figure in made
        for law in LAWS
        if figure in wanted
    }


def point(figure: str, function: str, setting: Setting, more: dict[str, Any], law: str, seed: int) -> Point:
    arguments = {"setting": asdict(setting), "law": law, **more}
    labels: dict[str, Label] = {"figure": figure, "law": law, "seed": seed}
    name = f"{law}-{seed}"
    title = f"figure {figure}, {LAWS[law]}, network {seed}"
    return computed(function, name, f"{__name__}:{function}", arguments, seed, labels, SOURCES, title)


def varied_points(ask: Ask[Size]) -> Groups:
    short = asdict(replace(ask.size.setting, ticks=ask.size.short))
    return {
        law: list(_variants(short, law, ask.seeds)) for law in LAWS
    }  # fmt: skip


def _variants(setting: dict[str, Any], law: str, seeds: list[int]) -> Iterator[Point]:
    for variant in VARIANTS:
        for seed in seeds:
            arguments = {"setting": setting, "law": law, "variant": variant}
            labels: dict[str, Label] = {"variant": variant, "law": law, "seed": seed}
            name = f"{law}-{variant.replace(' ', '-')}-{seed}"
            yield computed("varied", name, f"{__name__}:varied", arguments, seed, labels, SOURCES)
