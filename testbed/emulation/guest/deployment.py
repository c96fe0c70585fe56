"""A deployment that lives in a guest, seen from outside: commands go in through the guest's keeper."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from protos.records import LogEvent
from testbed.emulation.guest.api import attach
from testbed.emulation.guest.control import ControlFolder
from testbed.emulation.guest.engine import GUEST_FILE, GuestFile
from testbed.emulation.guest.errors import GuestDied
from testbed.emulation.guest.terminal import interact
from testbed.errors import TestbedError
from testbed.run.fidelity import read_events
from testbed.run.folder import RunFolder

STOP_GRACE_S = 60.0


def control_path(folder: RunFolder) -> Path:
    path = folder.path / GUEST_FILE
    if not path.exists():
        raise TestbedError("this run has no guest any more", file=folder.path)
    return Path(msgspec.json.decode(path.read_bytes(), type=GuestFile).control)


def converse(folder: RunFolder, argv: Sequence[str]) -> int:
    """Run a command in the guest with this process's terminal, or with its pipes; returns the exit code."""
    with attach(control_path(folder)) as guest:
        if sys.stdin.isatty():
            return interact(guest, argv)
        stdin = None if nothing_to_read() else sys.stdin.buffer.read()
        process = guest.start(argv, stdin=stdin)
        return process.copy_output(sys.stdout.buffer, sys.stderr.buffer)


def nothing_to_read() -> bool:
    return os.fstat(0).st_rdev == os.stat(os.devnull).st_rdev


def status(folder: RunFolder) -> dict[str, Any]:
    """What can be seen without disturbing the guest: it may stand still, and its clock should."""
    with attach(control_path(folder)):
        pass
    events = read_events(folder.events / "harness.jsonl")
    phases = [event for event in events if event.kind in ("PHASE_STARTED", "PHASE_READY", "RUN_ENDED")]
    last = phases[-1] if phases else LogEvent()
    stages = {"PHASE_STARTED": "gate", "PHASE_READY": "running", "RUN_ENDED": "ended"}
    return {
        "phase": "" if last.kind == "RUN_ENDED" else last.detail,
        "stage": stages.get(last.kind, "starting"),
        "clock_us": last.t_us - events[0].t_us if events else 0,
        "processes": {},
    }


def stop(folder: RunFolder) -> None:
    """The runner takes everything down in order, then the guest powers off."""
    with attach(control_path(folder)) as guest:
        guest.stop(STOP_GRACE_S)
    (folder.path / GUEST_FILE).unlink(missing_ok=True)


def remove(folder: RunFolder) -> list[str]:
    """End a guest that its harness left behind, and remove its control folder; answers what was there."""
    try:
        control = control_path(folder)
    except TestbedError:
        return []
    removed = []
    try:
        with attach(control) as guest:
            guest.kill()
        removed.append("a guest")
    except GuestDied:
        pass
    if control.exists():
        ControlFolder(control).remove()
        removed.append(f"folder {control}")
    return removed
