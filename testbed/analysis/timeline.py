"""From the rare events of a run (phases, faults, subscriptions) to the times that count for its checks."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from testbed.analysis.interests import FOREVER, Interest, Timeline
from testbed.analysis.runs import Run

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
RARE += ("MIGRATED", "PHASE_STARTED", "PHASE_READY", "FAULT_STARTED", "FAULT_ENDED", "CRASHED", "RUN_ENDED")
Rows = list[dict[str, Any]]
MIN_FLIGHT_US = 1_000_000


def timeline(run: Run, rare: Rows, max_delay_us: int) -> Timeline:
    """`rare`: the run's events of RARE kinds in order of time."""
    gates = settled_instants(run, rare)
    flight = max(MIN_FLIGHT_US, 2 * max_delay_us)
    return Timeline(
        tuple(interests(rare, gates)),
        tuple(disturbances(rare, flight)),
        _end(rare),
        flight,
        {client: tuple(spans) for client, spans in interruptions(rare).items()},
    )


def settled_instants(run: Run, rare: Rows) -> list[int]:
    """When a phase whose gate waits for settled subscriptions became ready."""
    phases = {phase.name for phase in run.plan.phases if phase.gate.subscriptions_settled}
    return [e["t_us"] for e in rare if e["kind"] == "PHASE_READY" and e["detail"] in phases]


def interests(rare: Rows, gates: list[int]) -> list[Interest]:
    """Every subscription with the time from which it must work: the first settled gate after it."""
    ends = _ends(rare)
    out = []
    for e in rare:
        if e["kind"] != "SUBSCRIBED":
            continue
        settled = next((gate for gate in gates if gate > e["t_us"]), FOREVER)
        later = [t for t in ends.get((e["node"], e["message"]), []) if t > e["t_us"]]
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


def disturbances(rare: Rows, flight_us: int) -> list[tuple[int, int]]:
    """Faults and crashes, each until its end and until the last link that came up before the next fault."""
    starts = [(e["t_us"], e["detail"]) for e in rare if e["kind"] in ("FAULT_STARTED", "CRASHED")]
    out = []
    for number, (start, what) in enumerate(starts):
        following = starts[number + 1][0] if number + 1 < len(starts) else FOREVER
        ended = [
            e["t_us"]
            for e in rare
            if e["kind"] == "FAULT_ENDED" and e["detail"] == what and e["t_us"] >= start
        ]
        if not ended:
            out.append((start, FOREVER))
            continue
        links = [e["t_us"] for e in rare if e["kind"] == "LINK_UP" and start <= e["t_us"] < following]
        out.append((start, max([ended[0], *links]) + flight_us))
    return out


def interruptions(rare: Rows) -> dict[str, list[tuple[int, int]]]:
    """Per client, the times between losing its broker and having one again."""
    out: dict[str, list[tuple[int, int]]] = defaultdict(list)
    open_since: dict[str, int] = {}
    for e in rare:
        if e["kind"] in ("DISCONNECTED", "STOPPED", "CRASHED"):
            open_since.setdefault(e["node"], e["t_us"])
        elif e["kind"] in ("CONNECTED", "SUBSCRIBED") and e["node"] in open_since:
            out[e["node"]].append((open_since.pop(e["node"]), e["t_us"]))
    for node, since in open_since.items():
        out[node].append((since, FOREVER))
    return out


def _end(rare: Rows) -> int:
    return min((e["t_us"] for e in rare if e["kind"] == "RUN_ENDED"), default=FOREVER)
