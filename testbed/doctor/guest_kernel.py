"""Whether a guest kernel with virtual time is there, or whether one could be built."""

from __future__ import annotations

import shutil
from pathlib import Path

from testbed.doctor.attempt import attempt
from testbed.doctor.finding import Finding, State
from testbed.doctor.resources import nearest_existing
from testbed.errors import TestbedError

NAME = "guest kernel"
GUEST = ("guest",)
BUILD = "testbed kernel build"


def guest_kernel() -> Finding:
    """Verify the built kernel's checksum and ask it for its version; without one, look what a build needs."""
    from testbed.emulation import kernel

    try:
        found = kernel.require()
    except TestbedError as missing:
        return not_built(str(missing))
    shown = attempt([str(found.binary), "--version"])
    if not shown.worked:
        return Finding(NAME, State.MISSING, f"{found.binary} does not run: {shown.why}", rebuild(), GUEST)
    time = "virtual time" if found.virtual_time else "real time only"
    return Finding(NAME, State.OK, f"Linux {shown.output.strip()}, {time} ({found.binary})")


def rebuild() -> str:
    return f"testbed kernel clean && {BUILD}"


def not_built(why: str) -> Finding:
    """A missing kernel: buildable right away, or what must be put right first."""
    wanting = obstacle()
    if wanting is None:
        return Finding(NAME, State.MISSING, f"{why}; everything to build one is here", BUILD, GUEST)
    return Finding(NAME, State.MISSING, f"{why}, and it cannot be built yet: {wanting[0]}", wanting[1], GUEST)


def obstacle() -> tuple[str, str] | None:
    """The first thing that keeps a kernel from being built, and the command that removes it."""
    from testbed.emulation.kernel import build, cache, source

    absent = [tool for tool in build.TOOLS if shutil.which(tool) is None]
    if absent or not Path("/usr/include/libelf.h").exists():
        return f"not found: {', '.join(absent) or 'libelf.h'}", "sudo make system-packages"
    try:
        source.choose()
        build.check_disk(nearest_existing(cache.cache_folder()))
    except source.SourceMissing as missing:
        return str(missing), "sudo make system-packages"
    except TestbedError as missing:
        return str(missing), missing.hint or BUILD
    return None
