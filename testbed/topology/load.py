"""From a topology file to a plan: the one entry point."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from testbed.topology.file.document import Document, parse_document, read_document
from testbed.topology.file.mending import mended
from testbed.topology.file.problems import InvalidTopology, Problem
from testbed.topology.file.schema import TopologyFile
from testbed.topology.file.schema.processes import ProgramGroup
from testbed.topology.file.schema_errors import explain
from testbed.topology.file.settings import apply_setting
from testbed.topology.plan import Broker, Check, Event, Phase, Plan
from testbed.topology.resolve.algorithms import check_algorithms
from testbed.topology.resolve.brokers import BrokerDraft, draft_brokers, place_brokers
from testbed.topology.resolve.clients import (
    ClientDraft,
    Placed,
    attach_clients,
    build_programs,
    draft_clients,
)
from testbed.topology.resolve.content import (
    check_filters,
    check_options,
    complete_publications,
)
from testbed.topology.resolve.events import Context, build_events, in_order
from testbed.topology.resolve.expand import Steps
from testbed.topology.resolve.names import Names, names_of
from testbed.topology.resolve.network import Sites, build_sites
from testbed.topology.resolve.observation import build_capture, build_probes
from testbed.topology.resolve.overlay import build_overlay
from testbed.topology.resolve.phases import build_phases, instant
from testbed.topology.resolve.report import Report
from testbed.topology.resolve.workloads import add_interests, add_templates, build_workloads


def load_plan_file(path: str | Path, seed: int | None = None, settings: Iterable[str] = ()) -> Plan:
    """The plan of a topology file. Raises InvalidTopology with every problem found.

    `seed` replaces the file's, for repetitions of one experiment; `settings` (PLACE=VALUE) replace others.
    """
    document = read_document(path)
    for setting in settings:
        apply_setting(document, setting)
    return resolve(document, Path(path).parent, seed)


def load_plan_text(text: str | bytes, file: str = "<text>", folder: Path = Path()) -> Plan:
    """`load_plan_file` for a text at hand."""
    return resolve(parse_document(text, file), folder)


def checked_file(document: Document, folder: Path) -> TopologyFile:
    """The document as the schema's models."""
    try:
        return TopologyFile.model_validate(document.data, context={"templates": True})
    except ValidationError as error:
        raise InvalidTopology(_all_problems(document, error, folder)) from None


def _all_problems(document: Document, error: ValidationError, folder: Path) -> list[Problem]:
    """What is wrong with single values, and with the rest of the file where that can be told without them."""
    problems = explain(error, TopologyFile, document)
    rest = mended(document, error, TopologyFile)
    if rest is not None:
        try:
            resolve(rest, folder)
        except InvalidTopology as more:
            problems += [problem for problem in more.problems if problem not in problems]
    return problems


def resolve(document: Document, folder: Path, seed: int | None = None) -> Plan:
    """The plan; problems of all steps are told together."""
    if seed is not None:
        document.data["seed"] = seed
    file = checked_file(document, folder)
    data: dict[str, Any] = document.data
    report = Report(document)
    sites = build_sites(file.network, file.seed, folder, report)
    if not sites.graph.nodes:
        report.raise_if_any()
    drafts = draft_brokers(file, data, report)
    if not drafts:
        report.add(("brokers",), "there is no broker", "a group with `count: 1` or more")
        report.raise_if_any()
    brokers = place_brokers(drafts, file, sites, report)
    overlay = build_overlay(file, drafts, brokers, sites, folder, report)
    check_options(file, drafts, report)
    check_algorithms(file, drafts, report)
    placed = build_clients(file, data, brokers, sites, folder, report)
    programs, origin = build_programs(file, data, brokers, sites, report)
    network = sites.network(report)
    addresses = {node.id: node.address for node in network.nodes}
    for broker in brokers:
        broker.address = addresses[broker.node]
    names = names_of(brokers, placed.clients, programs, list(addresses), report)
    own_times = _own_times(drafts, placed.drafts, origin)
    late = {id for id, (start, _, _) in own_times.items() if start} | _joining(file, names)
    phases = build_phases(file, names, late, report)
    context = Context(file.seed, names, phases, network, late, report)
    events = build_events(file, context) + _own_events(own_times, phases, report)
    _check_started(names, phases, late, report)
    capture = build_capture(file, names, report)
    probes = build_probes(file, brokers, names, report)
    report.raise_if_any()
    return Plan(
        name=file.name,
        seed=file.seed,
        network=network,
        brokers=brokers,
        overlay=overlay,
        clients=placed.clients,
        programs=programs,
        phases=phases,
        events=in_order(events, phases),
        capture=capture,
        probes=probes,
        checks=[Check(name, expression) for name, expression in file.checks.items()],
        tls=file.tls,
        sample_every_us=file.sample_every,
    )


def build_clients(
    file: TopologyFile,
    data: dict[str, Any],
    brokers: list[Broker],
    sites: Sites,
    folder: Path,
    report: Report,
) -> Placed:
    """Clients written out, then those that workloads make for them."""
    placed = attach_clients(draft_clients(file, data, report), file, brokers, sites, report)
    for client in placed.clients:
        complete_publications(client, placed.drafts[client.id], folder, report)
    publishers = [client for client in placed.clients if client.publications]
    made = build_workloads(file, publishers, brokers, report)
    add_interests(file, placed.clients, report)
    add_templates(file, placed.clients, publishers, report)
    for client in placed.clients:
        check_filters(client, placed.drafts[client.id], report)
    placed.clients += made.clients
    placed.drafts |= made.drafts
    return placed


OwnTimes = dict[str, tuple[str, str, Steps]]


def _own_times(
    drafts: list[BrokerDraft], clients: dict[str, ClientDraft], programs: dict[str, ProgramGroup]
) -> OwnTimes:
    """start_at and stop_at of each process that has one, with its place in the file."""
    times: OwnTimes = {draft.id: (draft.start_at, draft.stop_at, draft.path) for draft in drafts}
    for id, client in clients.items():
        start = client.item.start_at or client.spec.start_at
        times[id] = (start, client.item.stop_at or client.spec.stop_at, client.path)
    for id, program in programs.items():
        times[id] = (program.start_at, program.stop_at, ("programs", id))
    return {id: time for id, time in times.items() if time[0] or time[1]}


def _joining(file: TopologyFile, names: Names) -> set[str]:
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


def _own_events(times: OwnTimes, phases: list[Phase], report: Report) -> list[Event]:
    events = []
    for id, (start, stop, path) in times.items():
        begin = instant(start, phases, (*path, "start_at"), report) if start else None
        end = instant(stop, phases, (*path, "stop_at"), report) if stop else None
        if begin:
            events.append(Event(*begin, "join", id))
        if end:
            events.append(Event(*end, "stop", id))
        if begin and end and begin[0] == end[0] and end[1] <= begin[1]:
            report.add((*path, "stop_at"), f"{id!r} stops before it starts", "stop it later")
    return events


def _check_started(names: Names, phases: list[Phase], late: set[str], report: Report) -> None:
    started = late | {id for phase in phases for id in phase.start}
    forgotten = [id for id in names.ids if id not in started]
    if forgotten:
        hint = "add them to a phase's `start`, give them `start_at`, or a `join` event"
        some = ", ".join(forgotten[:5]) + (", ..." if len(forgotten) > 5 else "")
        report.add(("phases",), f"nothing ever starts {some}", hint, key=True)
