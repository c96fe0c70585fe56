"""Fault windows as a log tells them: the one reading that probes, checks and pages share."""

from __future__ import annotations

from typing import Any

import pytest

from protos.records import LogEvent
from testbed.run.faults import FaultWindow, fault_windows, repaired
from testbed.run.silence import FIRST_TRY_US, Silence

STORIES = {
    "a fault lasts until the record of its end": (
        [(1, "FAULT_STARTED", "kill", "B2"), (9, "FAULT_ENDED", "kill", "B2")],
        [FaultWindow("kill", "B2", 1, 9)],
    ),
    "what has no end in the log is open": (
        [(1, "FAULT_STARTED", "kill", "B2"), (9, "FAULT_ENDED", "kill", "B3")],
        [FaultWindow("kill", "B2", 1, None)],
    ),
    "another fault of the same object that ends at once ends nothing": (
        [
            (1, "FAULT_STARTED", "link_down", "l1"),
            (3, "FAULT_STARTED", "reshape", "l1"),
            (3, "FAULT_ENDED", "reshape", "l1"),
            (9, "FAULT_ENDED", "link_down", "l1"),
        ],
        [FaultWindow("link_down", "l1", 1, 9), FaultWindow("reshape", "l1", 3, 3)],
    ),
    "a killed broker that was restarted is back when the overlay has taken it in": (
        [
            (1, "FAULT_STARTED", "kill", "B2"),
            (4, "FAULT_STARTED", "restart", "B2"),
            (6, "FAULT_ENDED", "restart", "B2"),
            (9, "FAULT_ENDED", "kill", "B2"),
        ],
        [FaultWindow("kill", "B2", 1, 6), FaultWindow("restart", "B2", 4, 6)],
    ),
    "the crash of a broker and its fault are one window": (
        [(1, "CRASHED", "", "B2"), (1, "FAULT_STARTED", "crash", "B2"), (5, "FAULT_ENDED", "crash", "B2")],
        [FaultWindow("crash", "B2", 1, 5)],
    ),
    "a crashed client is away until an event starts it": (
        [(1, "CRASHED", "", "c1"), (7, "FAULT_STARTED", "start", "c1"), (7, "FAULT_ENDED", "start", "c1")],
        [FaultWindow("crash", "c1", 1, 7), FaultWindow("start", "c1", 7, 7)],
    ),
    "the same fault again is a window of its own once the first has ended": (
        [
            (1, "FAULT_STARTED", "kill", "B2"),
            (2, "FAULT_STARTED", "kill", "B2"),
            (4, "FAULT_ENDED", "kill", "B2"),
            (6, "FAULT_STARTED", "kill", "B2"),
        ],
        [FaultWindow("kill", "B2", 1, 4), FaultWindow("kill", "B2", 6, None)],
    ),
}


@pytest.mark.parametrize(("log", "expected"), STORIES.values(), ids=STORIES.keys())
def test_windows_of_a_log(log: list[tuple[int, Any, str, str]], expected: list[FaultWindow]) -> None:
    events = [LogEvent(t_us=t, kind=kind, type=action, detail=target) for t, kind, action, target in log]
    assert fault_windows([LogEvent(kind="PHASE_READY", detail="B2"), *events]) == expected


def test_an_action_repairs_the_windows_of_its_object_and_a_heal_those_of_all() -> None:
    open_ = [("kill", "B2"), ("stop", "B3"), ("link_down", "B2"), ("partition", "p1"), ("partition", "p2")]
    assert repaired(open_, "start", "B2") == [("kill", "B2")]
    assert repaired(open_, "link_up", "l9") == []
    assert repaired(open_, "heal", "") == [("partition", "p1"), ("partition", "p2")]
    assert repaired(open_, "kill", "B2") == []


def test_streams_may_be_silent_after_a_cut_as_long_as_it_lasted() -> None:
    silence = Silence()
    silence.changed(1_000_000, "link_down", "l1")
    silence.changed(3_000_000, "link_up", "l2")
    assert silence.until_us == 0
    silence.changed(5_000_000, "link_up", "l1")
    assert silence.until_us == 9_000_000 + FIRST_TRY_US
