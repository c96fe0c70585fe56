"""From the rare events of a run (phases, faults, subscriptions) to the times that count for its checks."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from protos.records import LogEvent
from testbed.analysis.evidence.absences import FOREVER, Absence, absences, renamed
from testbed.analysis.evidence.fault_course import DISTURBING, fault_course
from testbed.analysis.evidence.flight import MIN_FLIGHT_US, Motion, drained
from testbed.analysis.evidence.interests import Interest, Timeline
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
    "ADVERTISED",
    "UNADVERTISED",
)
RARE += ("RECONFIGURATION_PLANNED", "STEP_DONE", "RECONFIGURATION_ENDED")
RARE += ("MIGRATED", "HANDED_OVER", "EXCHANGED", "PHASE_STARTED", "PHASE_READY", *DISTURBING, "RUN_ENDED")
Rows = list[dict[str, Any]]
Span = tuple[int, int]


def as_record(event: dict[str, Any]) -> LogEvent:
    """As much of it as says what the harness did."""
    fields = {name: event[name] for name in ("t_us", "kind", "type", "detail", "queue")}
    return LogEvent(**fields)


def timeline(run: Run, rare: Rows, motion: Motion) -> Timeline:
    """`rare`: the run's events of RARE kinds in order of time."""
    gates = settled_instants(run, rare)
    ended = _end(rare)
    before = [e for e in rare if e["t_us"] < ended]  # afterwards everything stops; that excuses nothing
    faults = [aftermath(span, ended, motion) for span in disturbances(before)]
    flight = motion.flight_us(faults)
    away = absences(before, {client.id for client in run.plan.clients})
    return Timeline(
        tuple(interests(before, gates)),
        tuple((start, end if end == FOREVER else end + flight) for start, end in faults),
        ended,
        flight,
        {client: interruptions(spans, flight) for client, spans in away.items()},
        drained(run, motion, ended),
        fault_course(run, before, away, flight),
    )


def settled_instants(run: Run, rare: Rows) -> list[int]:
    """When a phase whose gate waits for settled subscriptions became ready."""
    phases = {phase.name for phase in run.plan.phases if phase.gate.subscriptions_settled}
    return [e["t_us"] for e in rare if e["kind"] == "PHASE_READY" and e["detail"] in phases]


def interests(rare: Rows, gates: list[int]) -> list[Interest]:
    """Every subscription with the time from which it must work: the first settled gate after it."""
    ends = _ends(rare)
    out = []
    for number, e in enumerate(rare):
        if e["kind"] != "SUBSCRIBED":
            continue
        settled = next((gate for gate in gates if gate > e["t_us"]), FOREVER)
        until = ends.get(number, FOREVER)
        out.append(Interest(e["node"], e["content"], e["t_us"], settled, until, e["group"]))
    return out


def _ends(rare: Rows) -> dict[int, int]:
    """Place of a SUBSCRIBED event -> when the client gave that subscription up.

    A client that lost its broker asks again for what it held and gets a new id: one subscription, two ids.
    So does one that is handed over to another broker.
    """
    ends: dict[int, int] = {}
    held: dict[tuple[str, str], list[int]] = {}  # (client, id) -> places of the events of that subscription
    lost: dict[tuple[str, str], list[str]] = defaultdict(list)  # (client, content) -> ids to be asked again
    for number, e in enumerate(rare):
        node, id_ = e["node"], e["message"]
        if e["kind"] == "SUBSCRIBED":
            before = lost[node, e["content"]].pop() if lost.get((node, e["content"])) else ""
            held[node, id_] = [*held.pop((node, before), []), number]
        elif e["kind"] == "UNSUBSCRIBED":
            ends |= {place: e["t_us"] for place in held.pop((node, id_), [])}
        elif e["kind"] == "HANDED_OVER":
            for old, new in renamed(e).items():
                held[node, new] = held.pop((node, old), [])
        elif e["kind"] in ("DISCONNECTED", "STARTED"):
            for (owner, known), places in held.items():
                content = rare[places[-1]]["content"] if places else ""
                if owner == node and known not in lost[node, content]:
                    lost[node, content].append(known)
    return ends


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


def interruptions(spans: tuple[Absence, ...], flight_us: int) -> tuple[Span, ...]:
    """A client's times without a broker, and until what it asked for again is known everywhere."""
    return tuple((one.start_us, min(one.end_us + flight_us, FOREVER)) for one in spans)


def _end(rare: Rows) -> int:
    return min((e["t_us"] for e in rare if e["kind"] == "RUN_ENDED"), default=FOREVER)
