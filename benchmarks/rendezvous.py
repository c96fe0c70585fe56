"""What messages of rings and trees cost in the simulator beside a publication's hop, in one run.

python -m benchmarks.rendezvous                 # the parts in turn, so that a noisy machine is noisy for all
python -m benchmarks.rendezvous --ring 1200     # so many Chord brokers that keep their ring, for an hour

Times are processor time per message that one process sent and another received, the log written as always.
The first two parts are the brokers of content-based routing, which were there before: a publication's hop
there is what all others are held against.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.control import CASES as CONTROL
from benchmarks.control import microseconds as content_based
from testbed.run.configs import counting_of
from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.garbage import collected_rarely
from testbed.simulation.simulator import Simulator
from testbed.topology.file.document import parse_document
from testbed.topology.load import resolve

GOAL = 1.5  # a heartbeat or a message of trees, of a publication's hop

TOPOLOGY = """
name: rendezvous
seed: 1
network: {{generator: star, nodes: 50, link: {{latency: 5ms}}}}
brokers: {{B: {{count: {brokers}, place: round_robin}}}}
algorithm:
  name: rendezvous
  heartbeat_interval_us: {beat_us}
  silence_us: 3600000000
  ring: {{bootstrap: converged, {ring}}}
overlay: {{generator: none}}
log_detail: {{counted: [{counted}], journeys: 1%}}
clients:
  pub: {{kind: publisher, broker: B1, publish: {{source: topic, rate: {rate}/s, parameters: {{topic: t1}}}}}}
  sub: {{kind: subscriber, count: {subscribers}, broker: "B{{i}}", topics: {{topics: 1, per_client: 1}}}}
{events}
phases:
  - {{name: overlay, start: [brokers], ready: {{links_up: true}}}}
  - {{name: subscribers, start: [sub], ready: {{subscriptions_settled: true}}}}
  - {{name: publishers, start: [pub], ready: {{subscriptions_settled: true}}, run_for: {seconds}s}}
"""
STILL = "maintain: false"
BUSY = "stabilise_us: 500000, check_us: 500000, fix_us: 5000000"
HOUR = 3_600_000_000
CASES = {
    "tree: publication": dict(beat_us=HOUR, rate=20, ring=STILL),
    "tree: heartbeat": dict(beat_us=500_000, rate=0.01, ring=STILL),
    "ring: notify, state, query, answer": dict(beat_us=HOUR, rate=0.01, ring=BUSY),
}


def simulated(text: str) -> tuple[float, int]:
    """Processor seconds and messages of the last phase."""
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
        return time.process_time() - begun, simulator.streams.carried - carried


def microseconds(brokers: int, seconds: int, **settings: object) -> float:
    all_of_them = dict(subscribers=brokers, counted="", events="") | settings
    taken, messages = simulated(TOPOLOGY.format(brokers=brokers, seconds=seconds, **all_of_them))
    return taken / messages * 1e6


def side_by_side(brokers: int, seconds: int, repeat: int) -> None:
    parts = [
        (f"content-based: {name}", content_based, CONTROL[name]) for name in ("publication", "heartbeat")
    ]
    parts += [(name, microseconds, case) for name, case in CASES.items()]
    taken: dict[str, list[float]] = {name: [] for name, _, _ in parts}
    for _ in range(repeat):
        for name, measure, case in parts:
            taken[name].append(measure(brokers, seconds, **case))
    hop = statistics.median(taken["content-based: publication"])
    for name, values in taken.items():
        median = statistics.median(values)
        print(
            f"{name:<36} {median:6.1f} us a message, {median / hop:4.2f} of a publication's hop", flush=True
        )
    print(f"goal: at most {GOAL}")


def large_ring(brokers: int, minutes: int) -> None:
    """With the periods that are the defaults; its messages are counted."""
    settings = dict(beat_us=HOUR, rate=0.01, ring="maintain: true", counted="'ring_*'", events="")
    begun = time.process_time()
    text = TOPOLOGY.format(brokers=brokers, subscribers=1, seconds=minutes * 60, **settings)
    taken, messages = simulated(text)
    whole = time.process_time() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{brokers} Chord brokers, {minutes} simulated minutes: {whole / 60:.1f} minutes of one core, "
        f"{messages:,} messages, {taken / messages * 1e6:.1f} us each, {memory:.2f} GB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brokers", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--ring", type=int, default=0, help="so many brokers, instead of the comparison")
    parser.add_argument("--minutes", type=int, default=60)
    given = parser.parse_args()
    if given.ring:
        large_ring(given.ring, given.minutes)
    else:
        side_by_side(given.brokers, given.seconds, given.repeat)


if __name__ == "__main__":
    main()
