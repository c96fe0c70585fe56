"""Running a command to see whether it works. Probes try; they never infer from version numbers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

# A user's PATH on Debian lacks these, and there live ip, tc and ovs-vswitchd.
ADMINISTRATION = ("/usr/local/sbin", "/usr/sbin", "/sbin")
TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Outcome:
    """How a command ended. `why` is its last line of complaint, for people."""

    worked: bool
    output: str
    why: str


def search_path() -> str:
    """Where commands are looked for: the PATH as it is now, then the administration folders."""
    return os.pathsep.join([os.environ.get("PATH", ""), *ADMINISTRATION])


def attempt(argv: Sequence[str], timeout_s: float = TIMEOUT_S) -> Outcome:
    """Run a command to its end. A command that does not exist or hangs has not worked; nothing is raised."""
    environment = {**os.environ, "PATH": search_path(), "LC_ALL": "C"}
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=timeout_s, env=environment, check=False
        )
    except FileNotFoundError:
        return Outcome(False, "", f"{argv[0]}: no such command")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Outcome(False, "", f"{argv[0]}: {error}")
    output = done.stdout + done.stderr
    return Outcome(done.returncode == 0, output, last_line(done.stderr) or f"exit code {done.returncode}")


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def in_new_network(script: str) -> list[str]:
    """The command that runs a shell script in a network namespace of its own, which ends with the script.

    Without root a user namespace is opened around it, so that a plain user can try things too.
    """
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
    return [*unshare, "sh", "-c", script]
