"""Is any path slower than it was? This tree against another revision, in interleaved pairs.

    python -m benchmarks.before_after [REVISION] [--pairs 9]

Three paths: a message hop of the simulator, the start of 1,000 simulated brokers, a message through a chain
of real brokers; all in processor time. Each pair runs both trees one after the other, the order changing from
pair to pair, so that whatever else the machine does hits both. Said is the median of the pairs' ratios: above
1.05 a path has become slower. The revision (default: HEAD, for changes that are not committed) is checked out
into a scratch folder and runs in this tree's Python environment.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMIT = 1.05

# Path -> benchmark with its options, and where its printed words have the time.
SIMULATE = ["benchmarks.simulate", "--publications", "1200"]
CHAIN = ["benchmarks.broker_chain", "--rounds", "4", "--no-streams"]
PATTERNS = {
    "simulated hop": (SIMULATE, re.compile(r"message hops in .*: ([\d,]+) hops/s")),
    "start of 1,000 brokers": (SIMULATE, re.compile(r"start ([\d.]+) s")),
    "broker chain": (CHAIN, re.compile(r"broker (\d+) µs")),
}
RATES = {"simulated hop"}  # more is better


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def printed(tree: Path, benchmark: list[str]) -> str:
    """What a benchmark says in a tree; one that misses a goal of its own has measured all the same."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    command = [sys.executable, "-m", *benchmark]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def cost(path: str, said: str) -> float:
    """Grows when the path becomes slower."""
    found = PATTERNS[path][1].search(said)
    if found is None:
        raise SystemExit(f"{path}: no time in what the benchmark said:\n{said}")
    value = float(found[1].replace(",", ""))
    return 1 / value if path in RATES else value


def pair(number: int, before: Path) -> dict[str, float]:
    """The ratio after / before of every path, each tree first in every second pair."""
    order = [before, ROOT] if number % 2 else [ROOT, before]
    said: dict[tuple[Path, str], str] = {}
    for benchmark in (SIMULATE, CHAIN):
        for tree in order:
            said[tree, benchmark[0]] = printed(tree, benchmark)
    return {
        path: cost(path, said[ROOT, benchmark[0]]) / cost(path, said[before, benchmark[0]])
        for path, (benchmark, _) in PATTERNS.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("revision", nargs="?", default="HEAD")
    parser.add_argument("--pairs", type=int, default=9)
    wanted = parser.parse_args()
    ratios: dict[str, list[float]] = {path: [] for path in PATTERNS}
    with checked_out(wanted.revision) as before:
        for number in range(1, wanted.pairs + 1):
            for path, ratio in pair(number, before).items():
                ratios[path].append(ratio)
            last = ", ".join(f"{path} {found[-1]:.3f}" for path, found in ratios.items())
            print(f"pair {number}: {last}", flush=True)
    slower = [path for path, found in ratios.items() if statistics.median(found) > LIMIT]
    for path, found in ratios.items():
        spread = f"{min(found):.3f} to {max(found):.3f}"
        print(f"{path}: {statistics.median(found):.3f} of the time before at the median ({spread})")
    print("slower: " + ", ".join(slower) if slower else f"no path is slower by more than {LIMIT - 1:.0%}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
