"""`algorithm` of the file, of groups and of items: checked with the protocols that are registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from broker_grpc.errors import BrokerError
from broker_grpc.registry import Entry, UnknownProtocol, parameters, registry
from testbed.errors import did_you_mean
from testbed.topology.file.protocol_docs import parameter_meanings
from testbed.topology.file.schema import TopologyFile
from testbed.topology.resolve.brokers import BrokerDraft
from testbed.topology.resolve.expand import Steps
from testbed.topology.resolve.report import Report, shortened
from testbed.topology.resolve.values import wrong_value

Algorithm = Mapping[str, Any]


def check_algorithms(file: TopologyFile, drafts: list[BrokerDraft], report: Report) -> None:
    """The file's algorithm and those that groups and items have in its place."""
    layers: dict[Steps, dict[str, Any] | None] = {("algorithm",): file.algorithm}
    for draft in drafts:
        layers[(*draft.path, "algorithm")] = draft.spec.algorithm
        layers[(*draft.path, "items", draft.id, "algorithm")] = draft.item.algorithm
    for path, algorithm in layers.items():
        if algorithm:
            _check_name(algorithm, path, report)


def _check_name(algorithm: Algorithm, path: Steps, report: Report) -> None:
    try:
        entry = registry().entry(algorithm)
    except UnknownProtocol as error:
        report.unknown((*path, "name"), "algorithm", error.name, error.known)
        for broken in registry().broken:
            report.add((*path, "name"), str(broken), "mend or remove that package")
    except BrokerError as error:
        report.add((*path, "name"), str(error), "see `testbed doctor`")
    else:
        _check_parameters(algorithm, entry, path, report)


def _check_parameters(algorithm: Algorithm, entry: Entry, path: Steps, report: Report) -> None:
    """Each by itself, so that all mistakes are told; what is left is wrong with all of them together."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(entry.settings)}
    wrong = False
    for key, value in parameters(algorithm).items():
        where = (*path, key)
        if key not in fields:
            hint = shortened(did_you_mean(key, fields))
            report.add(where, f"algorithm {entry.name} has no parameter {key!r}", hint, key=True)
            wrong = True
        elif problem := _problem(value, fields[key].type):
            meaning = parameter_meanings(entry.settings).get(key, "see docs/topology-file.md")
            report.add(where, f"algorithm {entry.name}, parameter {key} {problem}", meaning)
            wrong = True
    if not wrong:
        try:
            registry().settings(algorithm)
        except BrokerError as error:
            report.add(path, str(error), "see docs/topology-file.md", key=True)


def _problem(value: object, kind: object) -> str:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        return wrong_value(error, value)
    return ""
