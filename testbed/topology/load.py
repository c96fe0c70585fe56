"""From a topology file to a plan: the one entry point."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from testbed.topology.file.document import Document, parse_document, read_document
from testbed.topology.file.mending import mended
from testbed.topology.file.problems import InvalidTopology, Problem
from testbed.topology.file.schema import TopologyFile
from testbed.topology.file.schema_errors import explain
from testbed.topology.file.settings import apply_setting
from testbed.topology.plan import Plan
from testbed.topology.resolve.events import in_order
from testbed.topology.resolve.names import names_of
from testbed.topology.resolve.network import Sites, build_sites
from testbed.topology.resolve.observation import build_capture, build_checks, build_log_detail, build_probes
from testbed.topology.resolve.passable import check_passable
from testbed.topology.resolve.processes import resolve_processes
from testbed.topology.resolve.report import Report
from testbed.topology.resolve.source import Source
from testbed.topology.resolve.timeline import resolve_timeline


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
    report = Report(document)
    source = Source(checked_file(document, folder), document.data, folder, report)
    file = source.file
    sites = _sites(source)
    processes = resolve_processes(source, sites)
    network = sites.network(report)  # with the hosts that processes needed
    processes.give_addresses(network)
    names = names_of(processes.brokers, processes.clients, processes.programs, network.nodes, report)
    phases, events = resolve_timeline(source, processes, names, network)
    capture = build_capture(file, names, report)
    probes = build_probes(file, processes.brokers, names, report)
    log_detail = build_log_detail(file, report)
    checks = build_checks(file, report)
    check_passable(network, processes.overlay, names, events, report)
    report.raise_if_any()
    return Plan(
        name=file.name,
        seed=file.seed,
        network=network,
        brokers=processes.brokers,
        overlay=processes.overlay,
        clients=processes.clients,
        programs=processes.programs,
        phases=phases,
        events=in_order(events, phases),
        capture=capture,
        probes=probes,
        checks=checks,
        tls=file.tls,
        sample_every_us=file.sample_every,
        log_detail=log_detail,
    )


def _sites(source: Source) -> Sites:
    """Where processes may be put. Raises InvalidTopology for a network without a node."""
    sites = build_sites(source.file.network, source.file.seed, source.folder, source.report)
    if not sites.graph.nodes:
        source.report.raise_if_any()
    return sites
