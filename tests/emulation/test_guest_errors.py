"""What a user is told of a guest that died."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.emulation.guest.control import ControlFolder
from testbed.emulation.guest.errors import died

PANIC = """\
userspace - ptrace set fp regs failed, errno = 14
Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b
CPU: 0 PID: 1 Comm: python Not tainted 6.1.176 #1
Stack:
 606944ba 607e7fcd 7748bb90 6067bb96
Call Trace:
 [<606944ba>] ? _printk+0x0/0x94
"""


def test_a_panic_is_told_without_its_stack(tmp_path: Path) -> None:
    (tmp_path / "console.log").write_text(PANIC)
    problem = str(died(ControlFolder(tmp_path), -6))
    assert "killed by signal 6" in problem
    assert "Attempted to kill init" in problem
    assert "_printk" not in problem
    assert "606944ba" not in problem


@pytest.mark.parametrize(
    ("said", "code", "fix"),
    [
        (PANIC, -6, "does not know the register set of this processor"),
        ("Out of memory: Killed process 7 (python)", -6, "give it more"),
        ("Kernel panic - not syncing: no init", -6, "the lines above say why"),
        ("", -7, "/dev/shm is full"),
    ],
)
def test_the_fix_fits_the_death(tmp_path: Path, said: str, code: int, fix: str) -> None:
    (tmp_path / "console.log").write_text(said)
    assert fix in (died(ControlFolder(tmp_path), code).hint or "")
