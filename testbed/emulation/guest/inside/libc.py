"""The few system calls that Python's `os` does not have."""

from __future__ import annotations

import ctypes
import os

_LIBC = ctypes.CDLL(None, use_errno=True)

MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 1 << 18
_POWER_OFF = 0x4321FEDC


def mount(source: str, target: str, kind: str, options: str = "", flags: int = 0) -> None:
    """mount(2); an OSError names the target."""
    arguments = (source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode())
    if _LIBC.mount(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), target)


def power_off() -> None:
    """End the machine at once: file systems must have been synced."""
    _LIBC.reboot(ctypes.c_int(_POWER_OFF))


def set_hostname(name: str) -> None:
    encoded = name.encode()
    _LIBC.sethostname(encoded, ctypes.c_size_t(len(encoded)))
