"""Whether a guest boots here: a kernel that runs may still panic on this processor."""

from __future__ import annotations

from testbed.doctor.finding import Finding, State
from testbed.doctor.guest_kernel import BUILD, GUEST, rebuild
from testbed.errors import TestbedError

NAME = "guest boot"
MEMORY_MB = 256
TIMEOUT_S = 60.0


def guest_boot() -> Finding:
    """Boot the smallest guest and run one command in it; without a kernel there is nothing to try."""
    from testbed.emulation import kernel
    from testbed.emulation.guest.api import Guest, GuestSpec

    try:
        found = kernel.require()
    except TestbedError:
        return Finding(NAME, State.NOTE, f"not tried: there is no kernel yet ({BUILD})")
    clock = "virtual" if found.virtual_time else "real"
    try:
        with Guest(GuestSpec(found, MEMORY_MB, clock)) as guest:  # type: ignore[arg-type]
            done = guest.run(["uname", "-r"], timeout=TIMEOUT_S)
    except TestbedError as failed:
        why = " | ".join(str(failed).splitlines())
        return Finding(NAME, State.MISSING, why, failed.hint or rebuild(), GUEST)
    if done.code != 0:
        return Finding(
            NAME, State.MISSING, f"a command in the guest ended with {done.code}", rebuild(), GUEST
        )
    return Finding(NAME, State.OK, f"a guest booted and ran a command, {clock} time")
