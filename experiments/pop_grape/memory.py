"""`--figure memory`: resident memory of every broker (5e) on the report's own testbed, 127 real processes.

X = 16, six minutes: every system has moved its publishers by then, where a full set of 18 minutes would take
hours of guest time. Evidence for the notes, no verdicts: the claims about memory are judged by the bytes of a
broker's state (`--figure 5e`).
"""

from __future__ import annotations

from collections.abc import Mapping

from experiments.pop_grape.points import HERE
from experiments.pop_grape.systems import SYSTEMS
from testbed.reproduction.collect import Groups
from testbed.reproduction.evidence.events import read_events
from testbed.reproduction.measured import Measures
from testbed.reproduction.point import Settings, run_of_file
from testbed.reproduction.rows import Rows
from testbed.reproduction.study import Ask, Part, Scale
from testbed.run.folder import RunFolder
from testbed.sweep.run import Effort

NAME = "memory"
ENGINE = "guest"  # the simulator's brokers are no processes
SCALES: Mapping[str, Scale[Settings]] = {
    "smoke": Scale({"duration": "2min", "sample_every": "20s", "brokers.B.count": 15}, engines=(ENGINE,)),
    "full": Scale({"duration": "6min", "sample_every": "20s"}, engines=(ENGINE,)),
}


def points(ask: Ask[Settings]) -> Groups:
    made = [
        run_of_file(
            "pop-grape-memory", HERE / "cluster.yaml", {**ask.size, "algorithm": algorithm}, seed, ENGINE,
            {"system": system, "seed": seed}, f"{system}, seed {seed}",
        )
        for system, algorithm in SYSTEMS.items()
        for seed in ask.seeds
    ]  # fmt: skip
    return {NAME: made}


def last_samples(run: RunFolder) -> dict[str, int]:
    """Broker -> bytes, as it sampled itself last."""
    return {e.node: e.memory_bytes for e in read_events(run.events) if e.kind == "SAMPLED"}


def rows_of(run: RunFolder) -> Rows:
    return {
        "memory": [{"broker": name, "memory_bytes": size} for name, size in sorted(last_samples(run).items())]
    }


PART = Part(
    SCALES, (NAME,), points, lambda ask, found: [], Measures(rows_of, (__name__,)), NAME, by_default=False,
    only_engine=ENGINE, extra=lambda ask: {"engine": ENGINE}, effort=Effort(retries=1, timeout_s=7200),
)  # fmt: skip
