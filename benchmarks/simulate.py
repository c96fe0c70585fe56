"""The simulator against a bare heap carrying the same number of events, in one run; time, memory, growth.

python -m benchmarks.simulate                       # 1,000 brokers: message hops per second of one core
python -m benchmarks.simulate --brokers 10000 --subscriptions 100000 --publications 2000
python -m benchmarks.simulate --growth 10 100 1000 10000

Content-based routing on a binary tree of brokers, stock quotes, subscriptions spread over all brokers. A
message hop is one message that one process sent and another received (broker to broker, broker to client,
client to broker); the run's event log is written to a file as always. Times are processor time.
"""

from __future__ import annotations

import argparse
import heapq
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.garbage import collected_rarely
from testbed.simulation.simulator import Simulator
from testbed.topology.file.document import parse_document
from testbed.topology.load import resolve
from testbed.topology.plan import Plan

GOAL, LEAST = 100_000, 50_000  # message hops per second
PUBLISHERS = 40

TOPOLOGY = """
name: growth
seed: 1
network: {{generator: star, nodes: {hosts}, link: {{latency: 5ms}}}}
defaults:
  client: {{lead: 5s}}
  broker: {{options: {{verify_tree: false}}}}
brokers:
  B: {{count: {brokers}, place: round_robin}}
overlay: {{generator: tree, fanout: 2}}
clients:
  pub:
    kind: publisher
    count: {publishers}
    broker: random
    publish: {{source: stock, rate: 60/min, count: {each}, parameters: {{symbol: "S{{i}}"}}}}
  sub:
    kind: subscriber
    workload: random
    of: pub
    per_publisher: {per_publisher}
    spread: {spread}
phases:
  - {{name: overlay, start: [brokers], ready: {{links_up: true}}}}
  - {{name: subscribers, start: [sub], ready: {{subscriptions_settled: true}}}}
  - {{name: publishers, start: [pub], ready: {{subscriptions_settled: true, after: 5s}}, run_for: {seconds}s}}
"""


@dataclass(frozen=True)
class Size:
    brokers: int
    subscriptions: int
    publications: int


@dataclass(frozen=True)
class Measured:
    """Seconds are processor time."""

    plan_s: float
    start_s: float  # until all subscriptions are settled
    traffic_s: float
    hops: int  # of the traffic
    events: int
    start_hops: int
    heap_s: float  # the bare heap carrying as many events as the traffic had
    peak_bytes: int


def plan_of(size: Size) -> Plan:
    each = -(-size.publications // PUBLISHERS)
    text = TOPOLOGY.format(
        hosts=min(size.brokers, 100),
        brokers=size.brokers,
        publishers=PUBLISHERS,
        each=each,
        per_publisher=max(1, size.subscriptions // PUBLISHERS),
        spread=max(2, min(size.brokers, size.subscriptions // PUBLISHERS)),
        seconds=each + 2,
    )
    return resolve(parse_document(text), Path(), None)


def measure(size: Size, folder: Path) -> Measured:
    with collected_rarely():
        return _measure(size, folder)


def _measure(size: Size, folder: Path) -> Measured:
    begun = time.process_time()
    plan = plan_of(size)
    planned = time.process_time()
    log = SimulatedLog(folder / "simulation.jsonl")
    simulator = Simulator(plan, log, lambda tell: None)
    simulator.begin()
    while simulator.timeline.phase_name != "publishers" or simulator.timeline.stage != "running":
        if not simulator.step(1000):
            raise SystemExit(f"the start-up failed: {simulator.outcome}")
    settled, start_hops, start_events = time.process_time(), simulator.streams.carried, simulator.agenda.made
    while simulator.step(20_000):
        pass
    log.close()
    ended = time.process_time()
    assert simulator.outcome is not None
    if simulator.outcome.status != "done":
        raise SystemExit(f"the run failed: {simulator.outcome}")
    events = simulator.agenda.made - start_events
    return Measured(
        planned - begun,
        settled - planned,
        ended - settled,
        simulator.streams.carried - start_hops,
        events,
        start_hops,
        bare_heap(events),
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )


def bare_heap(events: int) -> float:
    """As many entries of the simulator's form through a heap of a thousand, each with one call."""
    heap = [(i, i, _nothing, None, None) for i in range(1000)]
    push, pop = heapq.heappush, heapq.heappop
    begun = time.process_time()
    for count in range(events):
        at, _, call, a, b = pop(heap)
        call(a, b)
        push(heap, (at + 1000, count, call, a, b))
    return time.process_time() - begun


def _nothing(a: None, b: None) -> None:
    """What a bare heap does."""


def tell(size: Size, measured: Measured) -> float:
    rate = measured.hops / measured.traffic_s
    slower = measured.traffic_s / measured.heap_s
    print(
        f"{size.brokers} brokers, {size.subscriptions} subscriptions: plan {measured.plan_s:.2f} s, "
        f"start {measured.start_s:.2f} s ({measured.start_hops} messages), "
        f"peak {measured.peak_bytes / 1e6:.0f} MB\n"
        f"  {measured.hops} message hops in {measured.traffic_s:.2f} s of processor time: {rate:,.0f} hops/s "
        f"(goal {GOAL:,}, at least {LEAST:,})\n"
        f"  {measured.events} events; a bare heap takes {measured.heap_s:.2f} s for as many: "
        f"{slower:.1f} times as long"
    )
    return rate


def growth(sizes: list[int]) -> int:
    """Each size in a process of its own, so that its memory is its own; ten subscriptions per broker."""
    for brokers in sizes:
        publications = max(40, 400_000 // brokers)
        command = [sys.executable, "-m", "benchmarks.simulate", "--brokers", str(brokers)]
        command += ["--subscriptions", str(10 * brokers), "--publications", str(publications)]
        if subprocess.run(command, check=False).returncode > 1:
            return 1
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--brokers", type=int, default=1000)
    parser.add_argument("--subscriptions", type=int, default=2000)
    parser.add_argument("--publications", type=int, default=4000)
    parser.add_argument("--growth", type=int, nargs="+", metavar="BROKERS")
    wanted = parser.parse_args()
    if wanted.growth:
        return growth(wanted.growth)
    size = Size(wanted.brokers, wanted.subscriptions, wanted.publications)
    with tempfile.TemporaryDirectory() as folder:
        return 0 if tell(size, measure(size, Path(folder))) >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
