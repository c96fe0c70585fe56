"""What this machine must offer before a guest is booted."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from testbed.emulation.guest.spec import GuestSpec
from testbed.errors import TestbedError

# The guest's memory is a file that is mapped executable. On a disk it would be slow and wear it.
MEMORY_FOLDERS = ("/dev/shm", "/run/shm")
LEAST_MEMORY_MB = 192


class GuestImpossible(TestbedError):
    """A guest cannot be booted here."""


def check(spec: GuestSpec) -> Path:
    """Raise what would make the boot fail; returns the folder for the guest's memory."""
    if spec.clock == "virtual" and not spec.kernel.virtual_time:
        raise GuestImpossible(
            "this kernel has no virtual time",
            file=spec.kernel.binary,
            hint="'testbed kernel build' makes one that has it, or use the real clock",
        )
    if spec.memory_mb < LEAST_MEMORY_MB:
        raise GuestImpossible(f"a guest needs at least {LEAST_MEMORY_MB} MB of memory, not {spec.memory_mb}")
    folder = memory_folder()
    _check_space(folder, spec.memory_mb)
    return folder


def memory_folder() -> Path:
    """The memory disk that holds the guest's memory."""
    for name in (os.environ.get("TESTBED_GUEST_MEMORY_DIR", ""), *MEMORY_FOLDERS):
        if name and os.path.isdir(name) and os.access(name, os.W_OK):
            if os.statvfs(name).f_flag & os.ST_NOEXEC:
                raise GuestImpossible(
                    "this folder is mounted noexec, and the guest's memory must be executable",
                    file=name,
                    hint=f"mount -o remount,exec {name}, or name another one in TESTBED_GUEST_MEMORY_DIR",
                )
            return Path(name)
    raise GuestImpossible(
        "there is no writable memory disk for the guest's memory (/dev/shm)",
        hint="mount -t tmpfs tmpfs /dev/shm, or name a folder in TESTBED_GUEST_MEMORY_DIR",
    )


def _check_space(folder: Path, memory_mb: int) -> None:
    free_mb = shutil.disk_usage(folder).free // 2**20
    available_mb = available_memory_mb()
    if min(free_mb, available_mb) < memory_mb:
        raise GuestImpossible(
            f"the guest may use {memory_mb} MB, but only {min(free_mb, available_mb)} MB are free "
            f"({free_mb} MB in {folder}, {available_mb} MB of memory)",
            hint="give the guest less memory, or end what uses it",
        )


def available_memory_mb() -> int:
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) // 1024
    return 2**31
