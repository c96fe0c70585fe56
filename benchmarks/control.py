"""What a control message costs in the simulator beside a publication's hop, in one run.

python -m benchmarks.control

A binary tree of brokers; once publications flood it, once heartbeats cross all its links. Times are processor
time per message that one process sent and another received, the log written as always, or counted
(`log_detail`). The parts are repeated in turn, so that a noisy machine is noisy for all of them.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from testbed.run.configs import counting_of
from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.garbage import collected_rarely
from testbed.simulation.simulator import Simulator
from testbed.topology.file.document import parse_document
from testbed.topology.load import resolve

GOAL = 1.5  # a heartbeat, of a publication's hop

TOPOLOGY = """
name: control
seed: 1
network: {{generator: star, nodes: 50, link: {{latency: 5ms}}}}
defaults:
  broker: {{options: {{verify_tree: false, heartbeat_interval_us: {beat_us}}}}}
brokers: {{B: {{count: {brokers}, place: round_robin}}}}
overlay: {{generator: tree, fanout: 2}}
log_detail: {{counted: [{counted}], journeys: 1%}}
clients:
  pub: {{kind: publisher, broker: B1, publish: {{source: stock, rate: {rate}/s, parameters: {{symbol: S}}}}}}
  sub:
    kind: subscriber
    count: {brokers}
    broker: "B{{i}}"
    subscribe: ["[class,eq,'STOCK']"]
phases:
  - {{name: overlay, start: [brokers], ready: {{links_up: true}}}}
  - {{name: subscribers, start: [sub], ready: {{subscriptions_settled: true}}}}
  - {{name: publishers, start: [pub], ready: {{subscriptions_settled: true}}, run_for: {seconds}s}}
"""
CASES = {
    "publication": dict(beat_us=0, rate=20, counted=""),
    "heartbeat": dict(beat_us=500_000, rate=0.01, counted=""),
    "publication, counted": dict(beat_us=0, rate=20, counted="publication"),
    "heartbeat, counted": dict(beat_us=500_000, rate=0.01, counted="'heartbeat*'"),
}


def microseconds(brokers: int, seconds: int, **settings: object) -> float:
    """Per message of the last phase."""
    text = TOPOLOGY.format(brokers=brokers, seconds=seconds, **settings)
    plan = resolve(parse_document(text), Path(), None)
    with tempfile.TemporaryDirectory() as folder, collected_rarely():
        log = SimulatedLog(Path(folder) / "simulation.jsonl", counting_of(plan))
        simulator = Simulator(plan, log, lambda tell: None)
        simulator.begin()
        while simulator.timeline.phase_name != "publishers" or simulator.timeline.stage != "running":
            if not simulator.step(1000):
                raise SystemExit(f"the start-up failed: {simulator.outcome}")
        begun, carried = time.process_time(), simulator.streams.carried
        while simulator.step(20_000):
            pass
        log.close()
        return (time.process_time() - begun) / (simulator.streams.carried - carried) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brokers", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    taken: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(given.repeat):
        for name, settings in CASES.items():
            taken[name].append(microseconds(given.brokers, given.seconds, **settings))
    base = taken["publication"]
    print(
        f"{given.brokers} brokers; us per message, median of {given.repeat}, and ratio to a publication's hop"
    )
    for name, values in taken.items():
        ratio = statistics.median(a / b for a, b in zip(values, base, strict=True))
        print(f"{name:24} {statistics.median(values):6.1f}  {ratio:5.2f}  (goal {GOAL} for control)")


if __name__ == "__main__":
    main()
