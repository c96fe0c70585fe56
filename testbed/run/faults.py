"""Fault windows: from an action that disturbs the run to the look that shows it recovered."""

from __future__ import annotations

from protos.records import LogEvent
from testbed.run.stimuli import Effect, Record

# An action on the left ends the windows on the right that are open on the same object.
REPAIRS: dict[str, tuple[str, ...]] = {
    "start": ("kill", "stop", "leave", "crash"),
    "join": ("leave", "kill", "stop", "crash"),
    "link_up": ("link_down",),
    "heal": ("partition",),
}
OPENING = frozenset({"kill", "stop", "leave", "start", "restart", "join", "link_down", "partition"})
RETURNS = frozenset({"start", "restart", "join"})  # they disturb until the overlay has taken the broker in
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
        for window in self.open:
            if window[0] in REPAIRS.get(action, ()) and (window[1] == target or action == "heal"):
                self.open[window] = True

    def recovered(self, now_us: int) -> list[Effect]:
        """The overlay is whole again: close every repaired window."""
        closed = [window for window, repaired in self.open.items() if repaired]
        for window in closed:
            del self.open[window]
        return [record(now_us, "FAULT_ENDED", action, target) for action, target in closed]

    def end(self, now_us: int) -> list[Effect]:
        """The run is over: what nobody repaired lasted until now."""
        left, self.open = list(self.open), {}
        return [record(now_us, "FAULT_ENDED", action, target, UNREPAIRED) for action, target in left]


def at_once(now_us: int, action: str, target: str, detail: str = "") -> list[Effect]:
    """An action that disturbs nobody but its object: a client's death, a reshaped link."""
    return [
        record(now_us, "FAULT_STARTED", action, target, detail),
        record(now_us, "FAULT_ENDED", action, target, detail),
    ]


def record(now_us: int, kind: str, action: str, target: str, content: str = "") -> Effect:
    event = LogEvent(t_us=now_us, type=action, detail=target, content=content)
    event.kind = kind  # type: ignore[assignment]
    return Record(event)
