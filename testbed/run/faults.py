"""Fault windows: from an action that disturbs the run to the look that shows it recovered, clients included.

The harness writes them into its log (`FaultWindows`); whoever reads a log takes them from `fault_windows`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from protos.records import LogEvent
from testbed.run.stimuli import Effect, Record

LOSSES = frozenset({"kill", "stop", "leave", "crash"})  # of a process
# An action on the left ends the windows on the right that are open on the same object.
REPAIRS: dict[str, frozenset[str]] = {
    "start": LOSSES,
    "join": LOSSES,
    "link_up": frozenset({"link_down"}),
    "heal": frozenset({"partition"}),
}
OPENING = frozenset({"kill", "stop", "leave", "start", "restart", "join", "link_down", "partition"})
RETURNS = frozenset({"start", "restart", "join"})  # they disturb until the overlay has taken the broker in
CUTS = frozenset({"link_down", "partition"})  # of a path: TCP connections outlive them
RESTART_DELAY_US = 1_000_000  # between a crash and the new start that `on_crash` asks for
UNREPAIRED = "not repaired before the run ended"


class FaultWindows:
    """Which faults are open, and which of them only wait for the overlay to recover."""

    def __init__(self) -> None:
        self.open: dict[tuple[str, str], bool] = {}  # (action, object) -> repaired

    @property
    def recovering(self) -> bool:
        return any(self.open.values())

    def begin(self, now_us: int, action: str, target: str, detail: str = "") -> Effect:
        """The window is open from now on; that of a returning broker only waits for the recovery."""
        self.open[action, target] = action in RETURNS
        return record(now_us, "FAULT_STARTED", action, target, detail)

    def repair(self, action: str, target: str) -> None:
        """`action` was done: the windows it repairs end with the next look that shows a whole overlay."""
        for window in repaired(self.open, action, target):
            self.open[window] = True

    def recovered(self, now_us: int) -> list[Effect]:
        """The overlay is whole again: close every repaired window."""
        closed = [window for window, is_repaired in self.open.items() if is_repaired]
        for window in closed:
            del self.open[window]
        return [record(now_us, "FAULT_ENDED", action, target) for action, target in closed]

    def end(self, now_us: int) -> list[Effect]:
        """The run is over: what nobody repaired lasted until now."""
        left, self.open = list(self.open), {}
        return [record(now_us, "FAULT_ENDED", action, target, UNREPAIRED) for action, target in left]


def repaired(windows: Iterable[tuple[str, str]], action: str, target: str) -> list[tuple[str, str]]:
    """Which of these windows (action, object) `action` repairs: a heal those of all partitions."""
    own = [window for window in windows if window[0] in REPAIRS.get(action, ())]
    return own if action == "heal" else [window for window in own if window[1] == target]


def at_once(now_us: int, action: str, target: str, detail: str = "") -> list[Effect]:
    """An action that disturbs nobody but its object: a client's death, a reshaped link."""
    return [
        record(now_us, "FAULT_STARTED", action, target, detail),
        record(now_us, "FAULT_ENDED", action, target, detail),
    ]


@dataclass(frozen=True)
class FaultWindow:
    """One fault as a log tells it."""

    action: str
    target: str
    start_us: int
    end_us: int | None  # None: nothing in the log ends it


def fault_windows(events: Iterable[LogEvent]) -> list[FaultWindow]:
    """The windows in a harness's log, in order of their start; events of other kinds are passed over.

    A crash opens one as well, recorded as a fault (a broker's) or not. The same fault again while the first
    lasts is one window. It ends with the record of its end, or when the process is in the overlay again.
    """
    opened: dict[tuple[str, str], int] = {}
    found = []
    for event in events:
        if event.kind == "FAULT_STARTED":
            opened.setdefault((event.type, event.detail), event.t_us)
        elif event.kind == "CRASHED":
            opened.setdefault(("crash", event.detail), event.t_us)
        elif event.kind == "FAULT_ENDED":
            for window in [window for window in opened if ends(event.type, event.detail, *window)]:
                found.append(FaultWindow(*window, opened.pop(window), event.t_us))
    found += [FaultWindow(*window, start_us, None) for window, start_us in opened.items()]
    return sorted(found, key=lambda window: window.start_us)


def ends(ended: str, where: str, action: str, target: str) -> bool:
    """Whether the end of one fault is the end of another."""
    return where == target and (ended == action or (ended in RETURNS and action in LOSSES))


def record(now_us: int, kind: str, action: str, target: str, content: str = "") -> Effect:
    event = LogEvent(t_us=now_us, type=action, detail=target, content=content)
    event.kind = kind  # type: ignore[assignment]
    return Record(event)
