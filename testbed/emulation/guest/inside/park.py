"""For a command in the guest that has done its work but must stay: let no more time pass for its sake."""

from __future__ import annotations

import os
import signal

FIRST_PROCESS = 1


def park() -> None:
    """Everything that runs in this guest stays, and its clock stands until another command is started."""
    os.kill(FIRST_PROCESS, signal.SIGUSR1)
