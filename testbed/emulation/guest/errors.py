"""What can go wrong with a guest, as the user is told."""

from __future__ import annotations

from testbed.emulation.guest.control import ControlFolder
from testbed.errors import TestbedError

OUT_OF_MEMORY = ("Out of memory", "Killed process", "oom-kill")


REGISTERS = "ptrace set fp regs failed"


class GuestDied(TestbedError):
    """The guest ended before its command did. The message carries the last lines of its console."""


class GuestTimeout(TestbedError):
    """A command in the guest took longer than it was given."""


def died(control: ControlFolder, code: int | None) -> GuestDied:
    """The error for a guest that is gone, with what its kernel said last."""
    console = control.console_tail()
    keeper = _tail(control)
    text = f"the guest died{_how(code)}"
    if console:
        text += f"; its console ends with:\n{console}"
    if keeper:
        text += f"\nkeeper: {keeper}"
    return GuestDied(text, hint=_hint(console, code))


def _how(code: int | None) -> str:
    if code is None:
        return ""
    return f" (killed by signal {-code})" if code < 0 else f" (exit code {code})"


def _hint(console: str, code: int | None) -> str | None:
    if any(mark in console for mark in OUT_OF_MEMORY):
        return "the guest ran out of memory: give it more"
    if REGISTERS in console:
        return (
            "this kernel does not know the register set of this processor (AMX): "
            "'testbed kernel build' makes one that does; unset TESTBED_KERNEL"
        )
    if "Kernel panic" in console:
        return "the guest's kernel panicked; the lines above say why"
    if code == -7:
        return "the host has no memory left for the guest (/dev/shm is full): free some of it"
    return None


def _tail(control: ControlFolder) -> str:
    try:
        return control.keeper_log.read_text(encoding="utf-8", errors="replace").strip()[-2000:]
    except OSError:
        return ""
