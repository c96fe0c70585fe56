"""When things happen: phases, events, and the processes with times of their own."""

from __future__ import annotations

from testbed.topology.file.document import Document
from testbed.topology.file.schema import TopologyFile
from testbed.topology.plan import Event, Network, Phase
from testbed.topology.resolve.events import Context, build_events
from testbed.topology.resolve.expand import Steps
from testbed.topology.resolve.files import seen_from
from testbed.topology.resolve.foresight import Told, check_in_time, check_mends
from testbed.topology.resolve.names import Names
from testbed.topology.resolve.phases import build_phases, instant
from testbed.topology.resolve.processes import Processes
from testbed.topology.resolve.report import Report
from testbed.topology.resolve.source import Source

OwnTimes = dict[str, tuple[str, str, Steps]]  # process id -> start_at, stop_at, its place in the file


def resolve_timeline(
    source: Source, processes: Processes, names: Names, network: Network
) -> tuple[list[Phase], list[Event]]:
    """Every process is started by a phase, an event, or its own `start_at`; who is not is told."""
    file, report = source.file, source.report
    times = own_times(processes)
    late = {id for id, (start, _, _) in times.items() if start} | joining(file, names)
    phases = build_phases(file, names, late, report)
    for phase in phases:
        phase.gate.check = seen_from(source.folder, phase.gate.check)
    context = Context(
        file.seed, names, phases, network, late, report, source.folder,
        {broker.id: broker for broker in processes.brokers},
        [(link.a, link.b) for link in processes.overlay],
    )  # fmt: skip
    told = build_events(file, context) + own_events(times, phases, report)
    check_started(names, phases, late, report)
    check_in_time(told, phases, report)
    check_mends(told, phases, report)
    return phases, [event for _, event in told]


def own_times(processes: Processes) -> OwnTimes:
    """start_at and stop_at of each process that has one."""
    times: OwnTimes = {
        draft.id: (draft.start_at, draft.stop_at, draft.path) for draft in processes.broker_drafts
    }
    for id, client in processes.client_drafts.items():
        start = client.item.start_at or client.spec.start_at
        times[id] = (start, client.item.stop_at or client.spec.stop_at, client.path)
    for id, program in processes.program_groups.items():
        times[id] = (program.start_at, program.stop_at, ("programs", id))
    return {id: time for id, time in times.items() if time[0] or time[1]}


def joining(file: TopologyFile, names: Names) -> set[str]:
    """Those that a `join` event names: no default phase starts them."""
    out: set[str] = set()
    quiet = Report(Document("", {}))  # unknown words are reported where events are built
    for event in file.events:
        if event.join is not None:
            words = [event.join] if isinstance(event.join, str) else event.join
            out.update(names.look_up(words, (), quiet))
    if file.phases:
        started = [id for phase in file.phases for id in names.look_up(phase.start, (), quiet)]
        named = {word for phase in file.phases for word in phase.start}
        # A phase that names the very process wins; one that names its category does not.
        return out - ({id for id in started} & named)
    return out


def own_events(times: OwnTimes, phases: list[Phase], report: Report) -> list[Told]:
    told: list[Told] = []
    for id, (start, stop, path) in times.items():
        begin = instant(start, phases, (*path, "start_at"), report) if start else None
        end = instant(stop, phases, (*path, "stop_at"), report) if stop else None
        if begin:
            told.append(((*path, "start_at"), Event(*begin, "join", id)))
        if end:
            told.append(((*path, "stop_at"), Event(*end, "stop", id)))
        if begin and end and begin[0] == end[0] and end[1] <= begin[1]:
            report.add((*path, "stop_at"), f"{id!r} stops before it starts", "stop it later")
    return told


def check_started(names: Names, phases: list[Phase], late: set[str], report: Report) -> None:
    started = late | {id for phase in phases for id in phase.start}
    forgotten = [id for id in names.ids if id not in started]
    if forgotten:
        hint = "add them to a phase's `start`, give them `start_at`, or a `join` event"
        some = ", ".join(forgotten[:5]) + (", ..." if len(forgotten) > 5 else "")
        report.add(("phases",), f"nothing ever starts {some}", hint, key=True)
