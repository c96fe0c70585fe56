"""Network namespaces without a process each: made by `unshare`, kept by a bind mount under /run/netns.

The mount point makes them visible to `ip netns exec`, lets any process enter by path, and survives a killed
harness, so that cleaning up means removing exactly the recorded paths.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

from testbed.emulation.network.errors import NetworkError

FOLDER = Path("/run/netns")
CLONE_NEWNET = 0x40000000
MS_BIND, MNT_DETACH = 4096, 2
_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise NetworkError(
            f"{what}: {os.strerror(number)}", hint="network namespaces need root (or the guest engine)"
        )


def create(names: list[str]) -> dict[str, Path]:
    """Make one namespace per name; the calling thread is back in its own afterwards."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    made: dict[str, Path] = {}
    with staying_home():
        for name in names:
            path = FOLDER / name
            os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL, 0o444))
            _check(_libc.unshare(CLONE_NEWNET), f"new network namespace {name}")
            _check(
                _libc.mount(b"/proc/thread-self/ns/net", bytes(path), None, MS_BIND, None), f"mount {path}"
            )
            made[name] = path
    return made


@contextlib.contextmanager
def staying_home() -> Iterator[None]:
    """Whatever namespace the body enters, the calling thread returns to the present one."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield
    finally:
        enter_fd(home)
        os.close(home)


def enter_fd(fd: int) -> None:
    _check(_libc.setns(fd, CLONE_NEWNET), "enter network namespace")


def enter(path: Path) -> None:
    """Move the calling thread into the namespace kept at `path`."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        enter_fd(fd)
    finally:
        os.close(fd)


@contextlib.contextmanager
def inside(path: Path) -> Iterator[None]:
    """The body runs in that namespace, and so does every process it starts: children inherit it.

    Cheaper than moving the child after the fork, which would keep `subprocess` from using vfork.
    """
    with staying_home():
        enter(path)
        yield


def remove(path: Path) -> None:
    """Let go of a namespace; it disappears with the last process and socket in it. No error if it is gone."""
    _libc.umount2(bytes(path), MNT_DETACH)
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
