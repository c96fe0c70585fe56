"""Which CPU a guest stays on. All its processes share one: they hand over to each other at every system call,
which costs half as much when it stays on one CPU. Where others crowd that CPU, the whole guest moves.

Nothing in a guest depends on it: it changes how long a run takes, never what happens in it.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

SAMPLES = 4
SAMPLE_SECONDS = 0.02
LOOK_SECONDS = 2.0
MEMORY = 0.6  # how much of the mean is the past
WORTHWHILE = (
    1.5  # competitors that a move must spare: the guest itself, and half a one against going to and fro
)
PROC = Path("/proc")


def runnable(proc: Path = PROC) -> Counter[int]:
    """How many tasks run or want to, by the CPU they are on. Not the one that asks."""
    found: Counter[int] = Counter()
    own = str(os.getpid())
    for stat in proc.glob("[0-9]*/stat"):
        if stat.parent.name != own:
            fields = stat_fields(stat)
            if fields and fields[0] == "R":
                found[int(fields[36])] += 1
    return found


def stat_fields(stat: Path) -> list[str]:
    """The fields after the command's name; empty when the process is gone."""
    try:
        return stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def idlest_cpu() -> int:
    """Where to start: the CPU that fewest want; any of them when several are equal."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) == 1:
        return allowed[0]
    wanted: Counter[int] = Counter()
    for _ in range(SAMPLES):
        wanted.update(runnable())
        time.sleep(SAMPLE_SECONDS)
    least = min(wanted[cpu] for cpu in allowed)
    return random.choice([cpu for cpu in allowed if wanted[cpu] == least])


class Pinning:
    """Follows the load of the CPUs and says when a guest should go elsewhere."""

    def __init__(self, cpu: int, allowed: Iterable[int], rng: random.Random) -> None:
        self.cpu = cpu
        self._load = dict.fromkeys(sorted(allowed), 0.0)
        self._seen = 0
        self._rng = rng

    def observe(self, counts: Mapping[int, int]) -> int | None:
        """Take one sample; the CPU to move to, or None. Not at once: others may decide the same just now."""
        for cpu, load in self._load.items():
            self._load[cpu] = MEMORY * load + (1 - MEMORY) * counts.get(cpu, 0)
        self._seen += 1
        best = min(self._load, key=lambda cpu: (self._load[cpu], cpu))
        gain = self._load[self.cpu] - self._load[best]
        if self._seen < SAMPLES or gain < WORTHWHILE or self._rng.random() < 0.5:
            return None
        self.cpu, self._seen = best, 0
        return best


def move(group: int, cpu: int, proc: Path = PROC) -> None:
    """Every process of a process group. Twice: one may have been born meanwhile, on the old CPU."""
    for _ in range(2):
        for stat in proc.glob("[0-9]*/stat"):
            fields = stat_fields(stat)
            if fields and int(fields[2]) == group:
                _move_threads(stat.parent / "task", cpu)


def _move_threads(tasks: Path, cpu: int) -> None:
    with contextlib.suppress(OSError):
        for task in os.listdir(tasks):
            os.sched_setaffinity(int(task), {cpu})
