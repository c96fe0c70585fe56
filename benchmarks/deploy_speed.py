"""Virtual seconds per wall second: how fast the guest engine runs brokers under the load of the papers.

    python -m benchmarks.deploy_speed [--brokers 15 63 127] [--files topologies/planetlab-63.yaml]
                                      [--seconds 60] [--results DIR]

Brokers in a binary tree on a PlanetLab-like network, 40 publishers at 60 publications a minute each (or as
many as there are brokers, when fewer), and four subscribers per publisher. Then topology files as they are,
but for their duration (`planetlab-63` has 20 subscribers per publisher and captures every broker's traffic).
Wall time counts from the instant the last phase is ready to the end of its duration. A guest uses one CPU;
where others want it too, wall time is longer than the CPU time of its processes, which is what an otherwise
idle machine would need. Prints a table and the rate in message hops.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed.emulation.guest.control import ControlFolder
from testbed.emulation.guest.deployment import control_path
from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Event, Options, engine
from testbed.run.fidelity import read_events
from testbed.run.folder import RunFolder
from testbed.topology.load import load_plan_file, load_plan_text
from testbed.topology.plan import Plan

PLANETLAB = Path(__file__).parents[1] / "topologies" / "planetlab-63.yaml"
TOPOLOGY = """
name: speed-{brokers}
seed: 1
duration: {seconds}s
network: {{generator: planetlab, sites: {brokers}}}
brokers:
  B: {{count: {brokers}, place: one_per_node}}
overlay: {{generator: tree, fanout: 2}}
clients:
  pub:
    kind: publisher
    count: {publishers}
    broker: random
    publish: {{source: stock, rate: 60/min, parameters: {{symbol: "S{{i}}"}}}}
  sub: {{kind: subscriber, workload: random, of: pub, per_publisher: 4}}
capture: {{enabled: false}}
probes: {{pairs: 20, every: 1s}}
"""


@dataclass
class Stopwatch:
    """Wall and CPU time at the milestones of a run."""

    folder: RunFolder
    ready_s: float = 0.0
    quiet_s: float = 0.0
    ready_cpu_s: float = 0.0
    quiet_cpu_s: float = 0.0
    network_s: float = 0.0
    overlay_s: float = 0.0

    def __call__(self, event: Event) -> None:
        state, wall = event.get("state"), event.get("wall_s", 0.0)
        if event["t"] == "network" and event["step"] == "up":
            self.network_s = wall
        elif state == "ready" and event["phase"] == "overlay":
            self.overlay_s = wall
        elif state == "ready":
            self.ready_s, self.ready_cpu_s = wall, guest_cpu_s(self.folder)
        elif state == "quieting":
            self.quiet_s, self.quiet_cpu_s = wall, guest_cpu_s(self.folder)


def guest_cpu_s(folder: RunFolder) -> float:
    """CPU time of the guest's processes so far: its kernel, those it runs and those that ended."""
    state = ControlFolder(control_path(folder)).state
    group = json.loads(state.read_text(encoding="utf-8"))["guest"]
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue  # it ended just now, and counts with its parent
        if int(fields[2]) == group:
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def plan(brokers: int, seconds: int) -> Plan:
    text = TOPOLOGY.format(brokers=brokers, seconds=seconds, publishers=min(40, brokers))
    return load_plan_text(text)


def hops(folder: RunFolder) -> int:
    """Publications forwarded between brokers and delivered to clients, in the whole run."""
    kinds = ("FORWARDED", "NOTIFIED")
    return sum(event.kind in kinds for path in folder.events.glob("B*.jsonl") for event in read_events(path))


def plan_of_file(path: Path, seconds: int) -> Plan:
    return load_plan_file(path, settings=[f"duration={seconds}s"])


def measure(the_plan: Plan, seconds: int, results: Path) -> dict[str, Any]:
    chosen = engine("guest")
    folder = prepare(the_plan, None, results, "guest", "virtual", "benchmarks/deploy_speed.py")
    watch = Stopwatch(folder)
    outcome = deploy(folder, chosen, Options("virtual"), watch)
    if outcome.code:
        sys.exit(f"{the_plan.name}: {outcome.manifest.status}: {outcome.manifest.reason}")
    wall, cpu = watch.quiet_s - watch.ready_s, watch.quiet_cpu_s - watch.ready_cpu_s
    assert outcome.fidelity is not None
    return {
        "run": the_plan.name,
        "brokers": len(the_plan.brokers),
        "network up (s)": watch.network_s,
        "brokers up (s)": watch.overlay_s - watch.network_s,
        "wall (s)": wall,
        "CPU (s)": cpu,
        "virtual/wall": seconds / wall,
        "virtual/CPU": seconds / cpu,
        "hops/s of CPU": hops(folder) / cpu,
        "RTT error p99 (us)": outcome.fidelity.error_p99_us,
    }


def show(rows: list[dict[str, Any]]) -> None:
    print("  ".join(f"{name:>18}" for name in rows[0]))
    for row in rows:
        print(
            "  ".join(
                f"{value:>18.2f}" if isinstance(value, float) else f"{value:>18}" for value in row.values()
            )
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--brokers", type=int, nargs="*", default=[15, 63, 127])
    parser.add_argument("--files", type=Path, nargs="*", default=[PLANETLAB])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        results = options.results or Path(scratch)
        plans = [plan(brokers, options.seconds) for brokers in options.brokers]
        plans += [plan_of_file(path, options.seconds) for path in options.files]
        show([measure(one, options.seconds, results) for one in plans])


if __name__ == "__main__":
    main()
