"""What the guest engine needs of this machine: memory that may hold code, and ptrace. No root."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import tempfile
from pathlib import Path

from testbed.doctor.finding import Finding, State

GUEST = ("guest",)
TRACE_ME = 0  # PTRACE_TRACEME
SHARED_MEMORY = Path("/dev/shm")


def executable_memory(folder: Path = SHARED_MEMORY) -> Finding:
    """Map a file of the folder as executable, as the guest kernel does with its memory."""
    name = "executable /dev/shm"
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.truncate(mmap.PAGESIZE)
            mmap.mmap(file.fileno(), mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()
    except (OSError, ValueError) as error:
        fix = f"sudo mount -o remount,exec {folder}"
        return Finding(name, State.MISSING, f"{folder} holds no executable memory: {error}", fix, GUEST)
    return Finding(name, State.OK, "a file there could be mapped as code (the guest's memory lives there)")


def ptrace() -> Finding:
    """Let a child ask to be traced: the guest kernel runs its processes so."""
    child = os.fork()
    if child == 0:
        os._exit(0 if ctypes.CDLL(None).ptrace(TRACE_ME, 0, 0, 0) == 0 else 1)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
        return Finding("ptrace", State.OK, "a process may trace its children")
    fix = "sudo sysctl kernel.yama.ptrace_scope=1 (in a container: --cap-add SYS_PTRACE)"
    return Finding("ptrace", State.MISSING, "a process may not trace its children", fix, GUEST)


def kvm(device: Path = Path("/dev/kvm")) -> Finding:
    """Open the device. Nothing needs it; people ask."""
    try:
        os.close(os.open(device, os.O_RDWR))
    except OSError as error:
        return Finding(
            "kvm", State.NOTE, f"not usable ({error.strerror}); not needed, the guest is a process"
        )
    return Finding("kvm", State.OK, "usable; not needed, the guest is a process")


def processor() -> Finding:
    machine = os.uname().machine
    if sys.platform == "linux" and machine == "x86_64":
        return Finding("processor", State.OK, f"{machine}, {os.cpu_count()} cores")
    detail = f"{sys.platform} on {machine}: user-mode Linux exists for Linux on x86_64 only"
    return Finding("processor", State.MISSING, detail, "use --engine simulate, or an x86_64 machine", GUEST)
