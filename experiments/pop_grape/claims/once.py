"""Claims that are about no one figure: an overhead over all runs, a computation, the size of the code."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

import broker_grpc.protocols.relocation
from broker_grpc.protocols.relocation.selection import BrokerStatistics, Tree, choose, estimates
from experiments.pop_grape.claims.curves import NUMBER, Check, Where, curves, not_run
from experiments.pop_grape.claims.data import Data
from experiments.pop_grape.printed import Printed
from experiments.pop_grape.systems import DELAY100, LOAD100, POP
from testbed.reproduction.checks import at_most, near
from testbed.reproduction.claim import Finding


def overhead_saved(where: Where) -> Check:
    """G7: "by up to 91 %"; 5.2 gives that number for the random workload."""

    def check(data: Data) -> Finding:
        table = curves(data, where, "overhead", [POP, LOAD100, DELAY100])
        if table.empty:
            return not_run(where)
        saved = 1 - table[[LOAD100, DELAY100]].div(table[POP], axis=0)
        x, system = saved.stack().idxmax()
        best = float(saved.loc[x, system])
        text = f"{100 * best:.0f} % ({system}, X = {x})"
        return near(best, 0.91, NUMBER).said(text, "largest over X and metric; within 15 points")

    return check


Selection = Callable[[Sequence[BrokerStatistics], Mapping[str, int]], str]


def worst_case(size: int = 63) -> tuple[list[BrokerStatistics], dict[str, int]]:
    """4.2: "subscribers residing on all 63 brokers", in a balanced binary tree; and pings."""
    random = Random(1)
    brokers = []
    for i in range(size):
        near = [f"B{n}" for n in ((i - 1) // 2, 2 * i + 1, 2 * i + 2) if 0 <= n < size]
        vector = random.getrandbits(100) & random.getrandbits(100)
        brokers.append(BrokerStatistics(f"B{i}", near, vector, vector.bit_count(), 100, 5000))
    return brokers, {b.id: random.randrange(200_000) for b in brokers}


def ours(brokers: Sequence[BrokerStatistics], pings: Mapping[str, int]) -> str:
    return choose(estimates(Tree(brokers), sorted(pings), pings), "delay", 1, "B0")


def as_printed(brokers: Sequence[BrokerStatistics], pings: Mapping[str, int]) -> str:
    return choose(Printed(brokers).estimates(sorted(pings), pings), "delay", 1, "B0")


def selection_computation(select: Selection) -> Check:
    """G15: phase 2 in its worst case, computed here and now; delay1 needs all of algorithms 1 to 3."""

    def check(data: Data) -> Finding:
        brokers, pings = worst_case()
        took = []
        for _ in range(5):
            start = time.process_time()
            select(brokers, pings)
            took.append(time.process_time() - start)
        text = f"{1e3 * min(took):.2f} ms of processor time"
        return at_most([min(took)], 0.07).said(text, "best of five, this machine")

    return check


def code_size(data: Data) -> Finding:
    """G19 is a property of their code; ours is given beside it."""
    folder = Path(broker_grpc.protocols.relocation.__file__).parent
    lines = {p.stem: len(p.read_text(encoding="utf-8").splitlines()) for p in folder.glob("*.py")}
    pop = sum(lines[n] for n in ("pop", "profile", "tagging"))
    grape = sum(lines[n] for n in ("grape", "selection", "tracing"))
    shared = sum(lines.values()) - pop - grape
    text = f"ours: POP {pop}, GRAPE {grape}, shared {shared} lines"
    return Finding(None, text, "a property of the report's own code")
