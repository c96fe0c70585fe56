"""What happens in a freshly forked child until it is the process it shall be. Nothing here returns."""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import signal
import sys
import termios
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NoReturn

import msgspec

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
OPEN_FILES = 8192
FAILED = 70  # EX_SOFTWARE: the child died of an exception, which is in its log
NOT_FOUND = 127
LEAST_MEMORY = 512 << 20
FIRST_TO_GO = "500"  # of 1000, for the kernel's choice when memory runs out

libc = ctypes.CDLL(None, use_errno=True)


class Birth(msgspec.Struct):
    """All a child needs to know. `config` is the file with its configuration; programs have argv instead.

    Without a log the descriptors that come along are its standard input, output and error. Without a node it
    stays where the nursery is.
    """

    key: int
    id: str
    kind: Literal["broker", "driver", "program"]
    node: str
    log: str
    config: str = ""
    argv: list[str] = []
    env: dict[str, str] = {}
    folder: str = ""


def become(birth: Birth, descriptors: list[int], enter: Callable[[str], None]) -> NoReturn:
    """Leave the parent's session, files and network behind, and run."""
    code = FAILED
    try:
        detach(birth, descriptors if birth.log == "" else None)
        limit_resources()
        if birth.node:
            enter(birth.node)
        control_fd = descriptors[0] if descriptors and birth.log else -1
        close_inherited(keep=control_fd)
        code = run(birth, control_fd)
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else FAILED
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def detach(birth: Birth, stdio: list[int] | None) -> None:
    """A session of its own, its log or somebody's terminal as output, and death with the parent."""
    os.setsid()
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    libc.prctl(PR_SET_NAME, birth.id[:15].encode())
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    if stdio is None:
        log = os.open(birth.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        stdio = [os.open(os.devnull, os.O_RDONLY), log, log]
    take_stdio(stdio)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]


def take_stdio(stdio: list[int]) -> None:
    """Use these as standard input, output and error; a terminal becomes the session's own."""
    for place, descriptor in enumerate(stdio):
        os.dup2(descriptor, place)
    if os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def limit_resources() -> None:
    """Enough descriptors for a hub broker, no core files in the results, and memory that leaves others some.

    Should memory end all the same, the kernel takes one of these processes, whose death is reported, and not
    the runner, the switches or the captures.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit_memory(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO, encoding="ascii")


def limit_memory(total: int) -> None:
    """Half of the machine for one process; one that wants more gets a MemoryError instead of all the rest."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = max(total // 2, LEAST_MEMORY)
    resource.setrlimit(
        resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
    )


def close_inherited(keep: int) -> None:
    """Nobody but this process may hold this process's files, or an end of file would never be seen."""
    highest = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if keep < 0:
        os.closerange(3, highest)
        return
    os.closerange(3, keep)
    os.closerange(keep + 1, highest)


def run(birth: Birth, control_fd: int) -> int:
    if birth.kind == "broker":
        from broker_grpc.core.config import BrokerProcessConfig
        from broker_grpc.process.process import serve as serve_broker

        config = msgspec.json.decode(Path(birth.config).read_bytes(), type=BrokerProcessConfig)
        return serve_broker(config, control_fd)
    if birth.kind == "driver":
        from testbed.workload.driver import DriverConfig
        from testbed.workload.driver import serve as serve_clients

        clients = msgspec.json.decode(Path(birth.config).read_bytes(), type=DriverConfig)
        return serve_clients(clients, control_fd)
    return run_program(birth)


def run_program(birth: Birth) -> int:
    os.chdir(birth.folder)
    try:
        os.execvpe(birth.argv[0], birth.argv, {**os.environ, **birth.env})
    except OSError as error:
        print(f"{birth.argv[0]}: {error.strerror}", file=sys.stderr)
        return NOT_FOUND
