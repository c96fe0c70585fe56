"""`algorithm` of the file, of groups and of items: checked with the protocols that are registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broker_grpc.errors import BrokerError
from broker_grpc.registry import UnknownProtocol, parameters, registry
from testbed.errors import did_you_mean
from testbed.topology.file.schema import TopologyFile
from testbed.topology.resolve.brokers import BrokerDraft
from testbed.topology.resolve.expand import Steps
from testbed.topology.resolve.report import Report, shortened

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
        _check_parameters(algorithm, entry.name, entry.settings.__struct_encode_fields__, path, report)


def _check_parameters(
    algorithm: Algorithm, name: str, known: tuple[str, ...], path: Steps, report: Report
) -> None:
    strange = [key for key in parameters(algorithm) if key not in known]
    for key in strange:
        hint = shortened(did_you_mean(key, known))
        report.add((*path, key), f"algorithm {name} has no parameter {key!r}", hint, key=True)
    try:
        registry().settings({key: value for key, value in algorithm.items() if key not in strange})
    except BrokerError as error:
        report.add(path, str(error), "see docs/topology-file.md", key=True)
