"""How long `analyze` takes: the smallest run with Spark's start, a large one, many in one call.

    python -m benchmarks.analyze [--brokers 63] [--publications 400] [--cluster] [--run FOLDER]

Runs are made up (testbed.analysis.sample) unless --run names a real one. --cluster compares `local-cluster`
with two processes to `local[2]`. Goal: the smallest run in at most 12 s with Spark's start (two idle cores,
with the class archive of `make setup`); on a busy machine a miss is said and not counted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from testbed.analysis.sample.run_folder import make_run

GOAL_S = 12.0


def command(runs: list[Path], master: str) -> float:
    """Wall time of the whole command, in a process of its own."""
    call = [sys.executable, "-c", "from testbed.cli import main; main()", "analyze", "--quiet"]
    begun = time.perf_counter()
    done = subprocess.run([*call, "--master", master, *map(str, runs)], check=False)
    assert done.returncode in (0, 1), "analyze could not run"
    return time.perf_counter() - begun


def lines(run: Path) -> int:
    return sum(file.read_bytes().count(b"\n") for file in (run / "events").glob("*.jsonl"))


def main() -> int:
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shape)
    parser.add_argument("--brokers", type=int, default=63)
    parser.add_argument("--publications", type=int, default=400)
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--run", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        small = make_run(base / "small", 7, 100, fanout=2, run="small").folder.path
        made = make_run(base / "large", given.brokers, given.publications, 2, run="large").folder.path
        return report(small, given.run or made, given.cluster, base)


def report(small: Path, large: Path, cluster: bool, base: Path) -> int:
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    first = min(command([small], "local[*]") for _ in range(2))
    print(f"smallest run ({lines(small):,} events): {first:.1f} s with Spark's start")
    big = command([large], "local[2]")
    events = lines(large)
    rate = events / max(big - first, 0.1)
    print(f"large run ({events:,} events): {big:.1f} s, {rate:,.0f} events per s beyond the start")
    copies = [make_run(base / f"copy{n}", 7, 100, fanout=2, run=f"copy{n}").folder.path for n in range(5)]
    print(f"five small runs in one call: {command(copies, 'local[*]'):.1f} s")
    if cluster:
        print(f"large run on local-cluster[2,1,1024]: {command([large], 'local-cluster[2,1,1024]'):.1f} s")
    reached = first <= GOAL_S
    print(f"goal of {GOAL_S:.0f} s for the smallest run: {'reached' if reached else 'MISSED'}")
    return 0 if reached or os.getloadavg()[0] > 2 else 1


if __name__ == "__main__":
    sys.exit(main())
