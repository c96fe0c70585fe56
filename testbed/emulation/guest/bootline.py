"""The command line that boots a guest kernel."""

from __future__ import annotations

import sys
from pathlib import Path

from testbed.emulation.guest.spec import VIRTUAL_EPOCH_NS, GuestSpec

REPOSITORY = Path(__file__).resolve().parents[3]
INSIDE = "testbed.emulation.guest.inside"


def boot_line(spec: GuestSpec, console_fd: int, line_fd: int) -> list[str]:
    """Arguments of the kernel. The console goes to one file descriptor, the control line to another.

    The kernel hands NAME=VALUE options it does not know to the first process as environment, and everything
    after `--` as arguments. The first process is Python itself: no shell, no fork before the first command.
    `seccomp=auto` makes kernels from 6.16 on run their processes without ptrace, twice as fast; older ones do
    not know it. Nothing here differs between two runs: the kernel's random numbers start from this line.
    """
    return [
        str(spec.kernel.binary),
        f"mem={spec.memory_mb}M",
        "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw",
        "quiet", "noreboot", "norandmaps", "seccomp=auto",
        "uml_dir=./", "umid=uml",
        "con=null", f"con0=null,fd:{console_fd}",
        "ssl=null", f"ssl0=fd:{line_fd}",
        *_clock(spec),
        f"PYTHONPATH={_quoted(REPOSITORY)}",
        "PYTHONDONTWRITEBYTECODE=1",
        f"init={_quoted(sys.executable)}",
        "--", "-s", "-S", "-m", INSIDE,
    ]  # fmt: skip


def _clock(spec: GuestSpec) -> list[str]:
    if spec.clock == "real":
        return []
    return ["time-travel=inf-cpu", f"time-travel-start={VIRTUAL_EPOCH_NS}"]


def _quoted(path: Path | str) -> str:
    """The kernel splits its command line at blanks outside of double quotes."""
    text = str(path)
    return f'"{text}"' if " " in text else text
