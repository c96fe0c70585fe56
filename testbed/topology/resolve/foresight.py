"""What a timeline can never do: act after the run's end, or mend what is whole.

Gates take an unknown time, at most their timeout; only what is wrong however long they take is told.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from testbed.topology.plan import Event, Phase
from testbed.topology.resolve.expand import Steps
from testbed.topology.resolve.report import Report

MENDS = {"heal": "partition", "link_up": "link_down"}  # what each action ends
Told = tuple[Steps, Event]  # a single step of the plan, and where the file asks for it


def check_in_time(told: Iterable[Told], phases: list[Phase], report: Report) -> None:
    """Tell every event that comes after the last phase; of a flap only the first such step.

    The single steps of a churn are drawn, and its `lasts` is only a bound: of these nobody is told.
    """
    seen: set[Steps] = set()
    for path, event in told:
        last_us = _last_us(phases, event.phase)
        if event.at_us > last_us and path not in seen and path[-1] != "churn":
            seen.add(path)
            _tell_late(
                f"{event.action} {event.target}".strip(), event.phase, event.at_us, last_us, path, report
            )


def check_begin(moment: tuple[str, int], phases: list[Phase], path: Steps, report: Report) -> None:
    """Of a churn: it must begin before the end."""
    phase, at_us = moment
    if at_us > _last_us(phases, phase):
        _tell_late("churn", phase, at_us, _last_us(phases, phase), path, report)


def _tell_late(what: str, phase: str, at_us: int, last_us: float, path: Steps, report: Report) -> None:
    hint = f"at the latest {phase}+{last_us / 1e6:g}s, or a longer run_for or duration"
    report.add(path, f"{what} at {phase}+{at_us / 1e6:g}s is after the end of the run", hint)


def _last_us(phases: list[Phase], name: str) -> float:
    """How long after the ready instant of a phase the last phase ends, at the latest."""
    index = [phase.name for phase in phases].index(name)
    later = phases[index + 1 :]
    if any(phase.gate.on_timeout == "wait" for phase in later):
        return math.inf
    gates = sum(phase.gate.timeout_us for phase in later)
    return gates + sum(phase.run_for_us for phase in phases[index:])


def check_mends(told: list[Told], phases: list[Phase], report: Report) -> None:
    """A heal without a partition before it, and a link_up of a link that nothing has cut."""
    for number, (path, event) in enumerate(told):
        opening = MENDS.get(event.action)
        if opening is None:
            continue
        same = [(k, other) for k, (_, other) in enumerate(told) if other.target == event.target]
        breaks = [(k, other) for k, other in same if other.action == opening]
        if not any(_may_precede(other, k, event, number, phases) for k, other in breaks):
            subject = f"{event.action} {event.target}".strip()
            why = f"comes before its {opening}" if breaks else f"without a {opening}"
            report.add(path, f"{subject} {why}", f"let a {opening} come first, or leave it out")


def _may_precede(
    first: Event, first_number: int, second: Event, second_number: int, phases: list[Phase]
) -> bool:
    names = [phase.name for phase in phases]
    i, j = names.index(first.phase), names.index(second.phase)
    if i < j:
        return True  # gates in between may take long or no time
    stays = sum(phase.run_for_us for phase in phases[j:i])
    return (stays + first.at_us, first_number) <= (second.at_us, second_number)
