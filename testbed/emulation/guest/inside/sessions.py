"""Commands that run in the guest: started from a job file, with files or a terminal for their output."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import signal
import struct
import termios
import traceback
from dataclasses import dataclass
from typing import Any, NoReturn

from testbed.emulation.guest.inside.mounts import CONTROL

NOT_EXECUTABLE, NOT_FOUND = 126, 127
SIGNALLED = 128
ADMINISTRATION = "/usr/local/sbin:/usr/sbin:/sbin"


@dataclass
class Session:
    """One running command. `terminal` is the master side of its pseudo terminal, if it has one."""

    number: int
    pid: int
    terminal: int | None

    def signal(self, number: int) -> None:
        """To the command and everything it started in its session."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def resize(self, rows: int, columns: int) -> None:
        if self.terminal is not None:
            fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def start(number: int) -> Session:
    """Start the command of job file `number`."""
    with open(f"{CONTROL}/jobs/{number}.json", encoding="utf-8") as file:
        job = json.load(file)
    if job["tty"]:
        pid, terminal = pty.fork()
        if pid == 0:
            _become(job)
        session = Session(number, pid, terminal)
        session.resize(job["rows"], job["columns"])
        return session
    pid = os.fork()
    if pid == 0:
        os.setsid()
        _attach_files(number, job["stdin"])
        _become(job)
    return Session(number, pid, None)


def _attach_files(number: int, stdin: str | None) -> None:
    """Output goes to files that are on the host when write() returns.

    A pipe to the host would stall the command while nobody reads, for a time that depends on the host's load;
    a file never does, so guest time does not depend on the reader.
    """
    how = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_DSYNC
    os.dup2(os.open(stdin or os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(f"{CONTROL}/jobs/{number}.out", how, 0o600), 1)
    os.dup2(os.open(f"{CONTROL}/jobs/{number}.err", how, 0o600), 2)
    os.closerange(3, 1024)


def _become(job: dict[str, Any]) -> NoReturn:
    """Turn this child into the command; never returns."""
    argv, environment = job["argv"], as_root(job["env"])
    for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.chdir(job["cwd"])
        os.execvpe(argv[0], argv, environment)
    except FileNotFoundError as error:
        _give_up(NOT_FOUND, f"{error.filename or argv[0]}: not found in the guest\n")
    except OSError as error:
        _give_up(NOT_EXECUTABLE, f"{argv[0]}: {error.strerror}\n")
    except BaseException:
        _give_up(NOT_EXECUTABLE, traceback.format_exc())


def as_root(environment: dict[str, str]) -> dict[str, str]:
    """The user's environment with root's folders in PATH: in the guest the user is root.

    A plain user's PATH on Debian has no sbin, and there live ip, tc and ovs-vswitchd.
    """
    path = os.pathsep.join(filter(None, (environment.get("PATH"), ADMINISTRATION)))
    return {**environment, "PATH": path}


def _give_up(code: int, why: str) -> NoReturn:
    os.write(2, why.encode())
    os._exit(code)


def exit_code(status: int) -> int:
    """As a shell says it: the command's own code, or 128 plus the signal that ended it."""
    code = os.waitstatus_to_exitcode(status)
    return SIGNALLED - code if code < 0 else code


def record_exit(number: int, code: int) -> None:
    """Write the exit code where the host finds it even if the guest dies right after."""
    fd = os.open(f"{CONTROL}/jobs/{number}.exit", os.O_WRONLY | os.O_CREAT | os.O_DSYNC, 0o600)
    os.write(fd, str(code).encode())
    os.close(fd)
