"""Capture, probes, the detail of the logs, and the experimenter's own checks."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import combinations

from protos.bodies import TYPE_OF
from testbed.topology.check_expressions import mistake_in
from testbed.topology.file.schema import TopologyFile
from testbed.topology.plan import EVERY_RECORD, Broker, Capture, Check, LogDetail, Probes
from testbed.topology.resolve.expand import Steps
from testbed.topology.resolve.names import Names
from testbed.topology.resolve.report import Report, shortened
from testbed.topology.seeding import Draw


def build_capture(file: TopologyFile, names: Names, report: Report) -> Capture:
    spec = file.capture
    nodes = _hosts(spec.nodes, ("capture", "nodes"), names, report)
    return Capture(spec.enabled, nodes, spec.snap_length, spec.ring_megabytes, spec.clients)


def build_probes(file: TopologyFile, brokers: list[Broker], names: Names, report: Report) -> Probes:
    spec = file.probes
    pairs: list[tuple[str, str]] = []
    if isinstance(spec.pairs, int):
        pairs = sampled_pairs(brokers, spec.pairs, file.seed)
    else:
        for i, pair in enumerate(spec.pairs):
            hosts = _hosts(pair, ("probes", "pairs", i), names, report)
            if len(hosts) == 2:
                pairs.append((hosts[0], hosts[1]))
    return Probes(pairs, spec.every, spec.limit_relative, spec.limit)


def sampled_pairs(brokers: list[Broker], count: int, seed: int) -> list[tuple[str, str]]:
    """A seeded sample of pairs of broker hosts, in host order."""
    hosts = list(dict.fromkeys(broker.node for broker in brokers))
    every = list(combinations(hosts, 2))
    order = {pair: i for i, pair in enumerate(every)}
    return sorted(Draw(seed, "probes").sample(every, count), key=order.__getitem__)


def _hosts(words: list[str], path: Steps, names: Names, report: Report) -> list[str]:
    out = []
    for k, word in enumerate(words):
        if word in names.routers:
            known = [host for host in names.hosts if host not in names.routers]
            hint = f"name a host: {', '.join(known)}" if known else "name a host"
            report.add(
                (*path, k), f"{word!r} is a router: it has no processes and no captures", shortened(hint)
            )
        elif word in names.hosts:
            out.append(names.hosts[word])
        else:
            report.unknown((*path, k), "node or broker", word, names.hosts)
    return list(dict.fromkeys(out))


def build_checks(file: TopologyFile, report: Report) -> list[Check]:
    for name, expression in file.checks.items():
        mistake = mistake_in(expression)
        if mistake is not None:
            report.add(("checks", name), f"check {name!r}: {mistake[0]}", shortened(mistake[1]))
    return [Check(name, expression) for name, expression in file.checks.items()]


def build_log_detail(file: TopologyFile, report: Report) -> LogDetail:
    """After the brokers: their protocols have brought their messages by then."""
    known = sorted(TYPE_OF.values())
    counted: set[str] = set()
    for i, word in enumerate(file.log_detail.counted):
        found = [name for name in known if fnmatchcase(name, word)]
        if not found:
            report.unknown(("log_detail", "counted", i), "type of message", word, known)
        counted.update(found)
    return LogDetail(sorted(counted), file.log_detail.journeys) if counted else EVERY_RECORD
