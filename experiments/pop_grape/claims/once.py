"""Claims that are about no one figure: an overhead over all runs, a computation, the size of the code."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import broker_grpc.protocols.relocation
from broker_grpc.protocols.relocation.selection import BrokerStatistics, Tree, choose, estimates
from experiments.pop_grape.claims.curves import NUMBER, Check, Where, curves, not_run
from experiments.pop_grape.claims.data import Data
from experiments.pop_grape.systems import DELAY100, LOAD100, POP
from testbed.reproduction.checks import near
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


def selection_computation(data: Data) -> Finding:
    """G15: phase 2 with 63 brokers that all have subscribers, computed here and now."""
    random = Random(1)
    brokers = []
    for i in range(63):
        near = [f"B{n}" for n in ((i - 1) // 2, 2 * i + 1, 2 * i + 2) if 0 <= n < 63 and n != i]
        near = near if i else ["B1", "B2"]
        vector = random.getrandbits(100) & random.getrandbits(100)
        brokers.append(BrokerStatistics(f"B{i}", near, vector, vector.bit_count(), 100, 5000))
    pings = {b.id: random.randrange(200_000) for b in brokers}
    took = []
    for _ in range(5):
        start = time.process_time()
        choose(estimates(Tree(brokers), sorted(pings), pings), "delay", 1, "B0")
        took.append(time.process_time() - start)
    return Finding(
        min(took) < 0.07, f"{1e3 * min(took):.2f} ms of processor time", "best of five, this machine"
    )


def code_size(data: Data) -> Finding:
    """G19 is a property of their code; ours is given beside it."""
    folder = Path(broker_grpc.protocols.relocation.__file__).parent
    lines = {p.stem: len(p.read_text(encoding="utf-8").splitlines()) for p in folder.glob("*.py")}
    pop = sum(lines[n] for n in ("pop", "profile", "tagging"))
    grape = sum(lines[n] for n in ("grape", "selection", "tracing"))
    shared = sum(lines.values()) - pop - grape
    text = f"ours: POP {pop}, GRAPE {grape}, shared {shared} lines"
    return Finding(None, text, "a property of the report's own code")
