"""The running system: 48 brokers with a manager and users whose topics change, around each reconfiguration.

The paper announced such a deployment and shows none. From the event logs: what a publication costs before,
during and after each reconfiguration, its messages against the bound (7), and handovers.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from testbed.reproduction.collect import Found, Groups
from testbed.reproduction.measured import Measures
from testbed.reproduction.point import run_of_file
from testbed.reproduction.rows import Rows
from testbed.reproduction.study import Ask, Case, Part, Scale
from testbed.run.folder import RunFolder

TOPOLOGY = Path(__file__).parents[2] / "topologies"
AROUND_US = 20_000_000  # of traffic before and after
STEPS = ("init", "overlay", "restore", "repair", "finish", "retire")
WINDOWS = ("before", "during", "after")
OF_MANAGER = ("RECONFIGURATION_PLANNED", "STEP_DONE", "RECONFIGURATION_ENDED")
KINDS = ("PUBLISHED", "PROCESSED", "NOTIFIED", "DELIVERED", "HANDED_OVER", *OF_MANAGER)


class Record(msgspec.Struct, gc=False):
    """What is measured of a log record."""

    t_us: int
    kind: str
    node: str = ""
    type: str = ""
    message: str = ""
    hops: int = 0
    leg: int = 0
    published_us: int = 0
    duration_us: int = 0
    content: str = ""


def records(folder: Path) -> Iterator[Record]:
    decode = msgspec.json.Decoder(Record).decode
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("rb") as lines:
            for line in lines:
                record = decode(line)
                if record.kind in KINDS:
                    yield record


@dataclass
class Journey:
    """One publication: who got it, and which brokers only passed it on below the rendezvous point."""

    published_us: int
    hops: list[int] = field(default_factory=list)
    delays_us: list[int] = field(default_factory=list)
    passed: set[str] = field(default_factory=set)
    notified: set[str] = field(default_factory=set)
    copies: Counter[str] = field(default_factory=Counter)

    @property
    def relays(self) -> int:
        return len(self.passed - self.notified)


@dataclass
class Reconfiguration:
    version: int
    begun_us: int
    numbers: dict[str, Any]
    steps_us: dict[str, int] = field(default_factory=dict)
    ended_us: int = 0
    outcome: str = "unfinished"
    messages: int = 0


@dataclass
class Observed:
    journeys: dict[str, Journey]
    reconfigurations: list[Reconfiguration]
    handovers_us: list[int]


def observed(told: Iterable[Record]) -> Observed:
    journeys: dict[str, Journey] = {}
    known: dict[str, Reconfiguration] = {}
    handovers: list[int] = []
    ordered = sorted(told, key=lambda record: record.t_us)
    for record in ordered:
        if record.kind == "PUBLISHED":
            journeys[record.message] = Journey(record.t_us)
        elif record.kind == "HANDED_OVER":
            handovers.append(record.duration_us)
        elif record.kind == "RECONFIGURATION_PLANNED" and record.type == "planned":
            known[record.message] = Reconfiguration(
                int(record.message), record.t_us, json.loads(record.content)
            )
        elif record.message in known:
            _followed(known[record.message], record)
    for record in ordered:
        if record.message in journeys:
            _travelled(journeys[record.message], record)
    return Observed(journeys, list(known.values()), handovers)


def _followed(known: Reconfiguration, record: Record) -> None:
    if record.kind == "STEP_DONE":
        known.steps_us[record.type] = record.duration_us
    elif record.kind == "RECONFIGURATION_ENDED":
        known.ended_us, known.outcome = record.t_us, record.type
        known.messages = sum(json.loads(record.content or "{}").values())


def _travelled(journey: Journey, record: Record) -> None:
    """A rendezvous point's record is on the leg to the root, or has no hops: it is no relay."""
    if record.kind == "PROCESSED" and not record.leg and record.hops:
        journey.passed.add(record.node)
    elif record.kind == "NOTIFIED":
        journey.notified.add(record.node)
    elif record.kind == "DELIVERED":
        journey.hops.append(record.hops)
        journey.delays_us.append(record.t_us - journey.published_us)
        journey.copies[record.node] += 1


# ---------------------------------------------------------------- rows


def measure(run: RunFolder) -> Rows:
    seen = observed(records(run.events))
    done = [one for one in seen.reconfigurations if one.outcome == "done"]
    return {
        "around": [row for one in done for row in _around(one, seen.journeys.values())],
        "deployed": [_told(one) for one in seen.reconfigurations],
        "handed_over": [_handovers(seen)],
    }


def _around(one: Reconfiguration, journeys: Iterable[Journey]) -> Iterator[dict[str, Any]]:
    by_window: dict[str, list[Journey]] = defaultdict(list)
    for journey in journeys:
        at = journey.published_us
        if one.begun_us - AROUND_US <= at < one.begun_us:
            by_window["before"].append(journey)
        elif one.begun_us <= at < one.ended_us:
            by_window["during"].append(journey)
        elif one.ended_us <= at < one.ended_us + AROUND_US:
            by_window["after"].append(journey)
    for window in WINDOWS:
        yield {"version": one.version, "window": window, **_summary(by_window[window])}


def _summary(journeys: Sequence[Journey]) -> dict[str, Any]:
    hops = [hops for journey in journeys for hops in journey.hops]
    delays = sorted(us for journey in journeys for us in journey.delays_us)
    return {
        "publications": len(journeys),
        "deliveries": len(hops),
        "relays": mean([journey.relays for journey in journeys]),
        "hops": mean(hops),
        "delay_ms": mean(delays) / 1e3,
        "median_ms": delays[len(delays) // 2] / 1e3 if delays else 0.0,
        "doubled": sum(count - 1 for journey in journeys for count in journey.copies.values()),
    }


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _told(one: Reconfiguration) -> dict[str, Any]:
    numbers = {name: one.numbers[name] for name in ("moved", "brokers", "topics", "benefit", "price")}
    steps = {f"{step}_ms": one.steps_us.get(step, 0) / 1e3 for step in STEPS}
    took = (one.ended_us - one.begun_us) / 1e3 if one.ended_us else 0.0
    return {"version": one.version, "outcome": one.outcome, **numbers, "messages": one.messages,
            "duration_ms": took, **steps}  # fmt: skip


def _handovers(seen: Observed) -> dict[str, Any]:
    took = sorted(seen.handovers_us)
    return {"handovers": len(took), "median_ms": took[len(took) // 2] / 1e3 if took else 0.0}


MEASURES = Measures(measure, (__name__,))


# ---------------------------------------------------------------- the part of the study


SCALES = {
    "smoke": Scale("dynatops-8", engines=("simulate",), more_seeds=False),
    "full": Scale("dynatops-48", engines=("simulate", "guest"), more_seeds=False),
}


def points(ask: Ask[str]) -> Groups:
    file = TOPOLOGY / f"{ask.size}.yaml"
    return {
        engine: [
            run_of_file(
                "deployed",
                file,
                {},
                seed,
                engine,
                {"engine": engine, "seed": seed},
                f"{ask.size} on {engine}",
            )
            for seed in ask.seeds
        ]
        for engine in ask.engines
    }


def cases(ask: Ask[str], found: Found) -> Sequence[Case]:
    """The paper claims nothing of a deployment: the tables are what there is."""
    return []


PART = Part(SCALES, ("emulated",), points, cases, MEASURES, "emulated", by_default=False)
