"""Which CPU a guest is on, decided from samples of who wants which."""

from __future__ import annotations

import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from testbed.emulation.guest import pinning
from testbed.emulation.guest.pinning import Pinning


def settle(here: Pinning, counts: dict[int, int], looks: int = 40) -> list[int]:
    """Where it moves, while the load stays as it is but for the guest itself, which takes its own along."""
    moves = []
    for _ in range(looks):
        load = {cpu: count + (cpu == here.cpu) for cpu, count in counts.items()}
        cpu = here.observe(load)
        if cpu is not None:
            moves.append(cpu)
    return moves


@pytest.mark.parametrize("seed", range(5))
def test_a_crowded_cpu_is_left_once_and_for_good(seed: int) -> None:
    assert settle(Pinning(1, {0, 1}, random.Random(seed)), {0: 1, 1: 4}) == [0]


@pytest.mark.parametrize(
    "counts", [{0: 0, 1: 0}, {0: 2, 1: 2}, {0: 1, 1: 1}, {0: 2, 1: 1}, {0: 0, 1: 0, 2: 0}]
)
def test_equal_cpus_are_no_reason_to_move(counts: dict[int, int]) -> None:
    assert settle(Pinning(1, set(counts), random.Random(1)), counts) == []


def test_the_emptiest_of_many_is_taken() -> None:
    assert settle(Pinning(0, {0, 1, 2, 3}, random.Random(1)), {0: 6, 1: 3, 2: 0, 3: 3}) == [2]


def test_a_busy_process_is_seen_on_its_cpu() -> None:
    cpu = max(os.sched_getaffinity(0))
    command = ["python3", "-c", f"import os; os.sched_setaffinity(0, {{{cpu}}})\nwhile True: pass"]
    with subprocess.Popen(command) as busy:
        try:
            stat, deadline = Path(f"/proc/{busy.pid}/stat"), time.monotonic() + 60
            while pinning.stat_fields(stat)[36] != str(cpu) or not pinning.runnable()[cpu]:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        finally:
            busy.kill()


def test_a_whole_process_group_moves_and_nobody_else() -> None:
    allowed = sorted(os.sched_getaffinity(0))
    command = ["sh", "-c", "sleep 60 & sleep 60 & echo; wait"]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE) as leader:
        try:
            assert leader.stdout is not None
            leader.stdout.readline()
            pinning.move(leader.pid, allowed[-1])
            children = Path(f"/proc/{leader.pid}/task/{leader.pid}/children").read_text().split()
            moved = {pid: os.sched_getaffinity(pid) for pid in (leader.pid, *map(int, children))}
            assert all(cpus == {allowed[-1]} for cpus in moved.values())
            assert len(moved) == 3
            assert sorted(os.sched_getaffinity(0)) == allowed
        finally:
            os.killpg(leader.pid, 9)
