"""From the rare events of a run (phases, faults, subscriptions) to the times that count for its checks."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from protos.records import LogEvent
from testbed.analysis.evidence.flight import MIN_FLIGHT_US, Motion, drained
from testbed.analysis.evidence.interests import FOREVER, Interest, Timeline
from testbed.analysis.evidence.runs import Run
from testbed.run.faults import CUTS, fault_windows

# Kinds that are few in any run; everything else is left to Spark.
RARE: tuple[str, ...] = (
    "STARTED",
    "STOPPED",
    "LINK_UP",
    "LINK_DOWN",
    "CONNECTED",
    "DISCONNECTED",
    "SUBSCRIBED",
    "UNSUBSCRIBED",
)
DISTURBING = ("FAULT_STARTED", "FAULT_ENDED", "CRASHED")
RARE += ("MIGRATED", "HANDED_OVER", "EXCHANGED", "PHASE_STARTED", "PHASE_READY", *DISTURBING, "RUN_ENDED")
Rows = list[dict[str, Any]]
Span = tuple[int, int]


def timeline(run: Run, rare: Rows, motion: Motion) -> Timeline:
    """`rare`: the run's events of RARE kinds in order of time."""
    gates = settled_instants(run, rare)
    ended = _end(rare)
    before = [e for e in rare if e["t_us"] < ended]  # afterwards everything stops; that excuses nothing
    faults = [aftermath(span, ended, motion) for span in disturbances(before)]
    flight = motion.flight_us(faults)
    return Timeline(
        tuple(interests(before, gates)),
        tuple((start, end if end == FOREVER else end + flight) for start, end in faults),
        ended,
        flight,
        {client: tuple(spans) for client, spans in interruptions(before).items()},
        drained(run, motion, ended),
    )


def settled_instants(run: Run, rare: Rows) -> list[int]:
    """When a phase whose gate waits for settled subscriptions became ready."""
    phases = {phase.name for phase in run.plan.phases if phase.gate.subscriptions_settled}
    return [e["t_us"] for e in rare if e["kind"] == "PHASE_READY" and e["detail"] in phases]


def interests(rare: Rows, gates: list[int]) -> list[Interest]:
    """Every subscription with the time from which it must work: the first settled gate after it. One that was
    handed over to another broker is the same under another id."""
    ends, renamed = _ends(rare), _renamed(rare)
    out = []
    for e in rare:
        if e["kind"] != "SUBSCRIBED":
            continue
        settled = next((gate for gate in gates if gate > e["t_us"]), FOREVER)
        ids = [e["message"]]
        while (e["node"], ids[-1]) in renamed:
            ids.append(renamed[e["node"], ids[-1]])
        later = [t for id_ in ids for t in ends.get((e["node"], id_), []) if t > e["t_us"]]
        out.append(
            Interest(e["node"], e["content"], e["t_us"], settled, min(later, default=FOREVER), e["group"])
        )
    return out


def _ends(rare: Rows) -> dict[tuple[str, str], list[int]]:
    ends = defaultdict(list)
    for e in rare:
        if e["kind"] == "UNSUBSCRIBED":
            ends[e["node"], e["message"]].append(e["t_us"])
    return ends


def _renamed(rare: Rows) -> dict[tuple[str, str], str]:
    """Client and id of a subscription -> its id at the broker to which the client was handed over."""
    moves = [e for e in rare if e["kind"] == "HANDED_OVER" and e["content"]]
    return {(e["node"], old): new for e in moves for old, new in json.loads(e["content"]).items()}


@dataclass(frozen=True)
class Disturbance:
    start_us: int
    end_us: int  # when the harness saw the overlay whole again; FOREVER = it did not
    linked_us: int  # last link that came up before the next fault
    cut: bool  # packets were lost while connections stayed


def disturbances(rare: Rows) -> list[Disturbance]:
    """Faults and crashes in order of time."""
    windows = fault_windows(
        LogEvent(t_us=e["t_us"], kind=e["kind"], type=e["type"], detail=e["detail"])
        for e in rare
        if e["kind"] in DISTURBING
    )
    linked = [e["t_us"] for e in rare if e["kind"] == "LINK_UP"]
    following = [*(window.start_us for window in windows[1:]), FOREVER]
    out = []
    for window, until in zip(windows, following, strict=False):
        up = max((t for t in linked if window.start_us <= t < until), default=window.start_us)
        end = FOREVER if window.end_us is None else window.end_us
        out.append(Disturbance(window.start_us, end, up, window.action in CUTS))
    return out


def aftermath(fault: Disturbance, ended_us: int, motion: Motion) -> Span:
    """From the fault's start until all that it held up has arrived; FOREVER = the run did not last that long.

    TCP doubles its waits, so it sends again at the latest when the path has been back for as long as it was
    gone. What it held has been delivered then.
    """
    again = 2 * fault.end_us - fault.start_us + MIN_FLIGHT_US if fault.cut else fault.end_us
    if fault.end_us == FOREVER or ended_us < again:
        return fault.start_us, FOREVER
    whole = max(fault.end_us, fault.linked_us)
    return fault.start_us, max(whole, motion.held_until_us(fault.start_us, whole))


def interruptions(rare: Rows) -> dict[str, list[tuple[int, int]]]:
    """Per client, the times between losing its broker and having one again. Who was handed over loses none:
    it has left the old one."""
    left: dict[str, set[str]] = defaultdict(set)
    out: dict[str, list[tuple[int, int]]] = defaultdict(list)
    open_since: dict[str, int] = {}
    for e in rare:
        if e["kind"] == "HANDED_OVER":
            left[e["node"]].add(e["detail"])
            left[e["node"]].discard(e["peer"])
        elif e["kind"] == "DISCONNECTED" and e["peer"] in left[e["node"]]:
            left[e["node"]].discard(e["peer"])
        elif e["kind"] in ("DISCONNECTED", "STOPPED", "CRASHED"):
            open_since.setdefault(e["node"], e["t_us"])
        elif e["kind"] in ("CONNECTED", "SUBSCRIBED") and e["node"] in open_since:
            out[e["node"]].append((open_since.pop(e["node"]), e["t_us"]))
    for node, since in open_since.items():
        out[node].append((since, FOREVER))
    return out


def _end(rare: Rows) -> int:
    return min((e["t_us"] for e in rare if e["kind"] == "RUN_ENDED"), default=FOREVER)
