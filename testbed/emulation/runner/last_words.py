"""Why a process died, as far as its log and the kernel tell."""

from __future__ import annotations

import signal
from pathlib import Path

LOG_LINES = 12
OUT_OF_MEMORY = "the kernel ran out of memory during the run (fix: --memory MB gives a guest more)"


class LastWords:
    def __init__(self) -> None:
        self._killed_before = killed_for_memory()

    def of(self, log: Path, code: int) -> str:
        """The end of its log; first, whether the kernel has had to kill for want of memory in this run."""
        words = last_lines(log)
        if code == -signal.SIGKILL and killed_for_memory() > self._killed_before:
            return f"{OUT_OF_MEMORY}\n{words}".rstrip()
        return words


def killed_for_memory(vmstat: Path = Path("/proc/vmstat")) -> int:
    """How many processes the kernel has ended since boot because there was no memory left."""
    for line in vmstat.read_text(encoding="ascii").splitlines():
        name, _, count = line.partition(" ")
        if name == "oom_kill":
            return int(count)
    return 0


def last_lines(log: Path, count: int = LOG_LINES) -> str:
    """The end of a log, for a person who wants to know why the process died."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 8192))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-count:])
