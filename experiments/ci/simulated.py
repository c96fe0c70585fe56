"""One network simulated message by message, and held against flow."""

from __future__ import annotations

from typing import Any

import pandas

from experiments.ci.computations import Bench, Report, Tables
from experiments.ci.deployment import HIGHEST, plan_of
from experiments.ci.pricing import Pricing
from experiments.ci.systems import HEURISTICS
from experiments.ci.workload import TICK_US, Law, Setting, costs, ids
from protos.records import LogEvent
from testbed.simulation.garbage import collected_rarely
from testbed.simulation.simulator import Simulator
from testbed.topology.plan import Plan

PRICED = ("FORWARDED", "SENT", "PROCESSED")
CALLS = 200_000


class PricedLog:
    """In place of a simulation's event log: records are priced and forgotten."""

    def __init__(self, pricing: Pricing) -> None:
        self.waiting: list[LogEvent] = []
        self._pricing = pricing

    def write(self, event: LogEvent, now_us: int, node: str) -> None:
        event.t_us, event.node = event.t_us or now_us, event.node or node
        self.waiting.append(event)

    def spill(self) -> None:
        pricing = self._pricing
        for event in self.waiting:
            if event.kind in PRICED:
                pricing.record(event.kind, event.type, event.t_us, event.node, event.peer)
            elif event.kind == "EXCHANGED":
                pricing.exchanged(event.t_us, event.type, event.group, event.content)
        self.waiting.clear()


def priced(plan: Plan, pricing: Pricing, report: Report) -> None:
    """Clients begin when the last phase does: its instant is the start of the account."""
    log = PricedLog(pricing)

    def told(tell: Any) -> None:
        if tell.state == "phase" and tell.phase == plan.phases[-1].name:
            pricing.start_us = simulator.agenda.now_us

    simulator = Simulator(plan, log, told)  # type: ignore[arg-type]
    with collected_rarely():
        simulator.begin()
        while simulator.step(CALLS):
            report(f"{(simulator.agenda.now_us - pricing.start_us) / TICK_US:.0f} ticks")
        log.spill()


def compared(report: Report, setting: dict[str, Any], law: Law, seed: int, system: str) -> Tables:
    """The same network, clients and costs by both: costs and messages per sample and purpose."""
    size = Setting(**setting)
    paid = costs(size, seed, HIGHEST, HIGHEST)
    pricing = Pricing(ids(size), [(0, paid[0])], size.sample * TICK_US, size.end_us)
    priced(plan_of(size, law, seed, system, "given"), pricing, report)
    flow = Bench(setting, law, seed).play(system, paid)
    rows = [{"by": "simulator", **row} for row in pricing.rows()]
    rows += [
        {"by": "flow", "sample": int(row["at_us"]) // (size.sample * TICK_US) - 1,
         **{key: row[key] for key in ("purpose", "messages", "cost")}}
        for row in flow.ledger.rows
    ]  # fmt: skip
    exchanged = {"simulator": len(pricing.exchanges), "flow": len(flow.exchanges)}
    counts = [{"by": by, "exchanges": many} for by, many in exchanged.items()]
    return {"compared": pandas.DataFrame(rows), "exchanged": pandas.DataFrame(counts)}


SYSTEMS = tuple(HEURISTICS)
