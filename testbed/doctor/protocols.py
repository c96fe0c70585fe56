"""The protocols that a topology file can name here, and those that cannot be used."""

from __future__ import annotations

from broker_grpc.registry import Registry, registry
from testbed.doctor.finding import Finding, State

NAME = "protocols"


def protocols(known: Registry | None = None) -> Finding:
    """Import the plugs of all packages. One that fails stops no run but those that name its protocols."""
    known = known or registry()
    wrong = [*known.clashes(), *map(str, known.broken)]
    detail = "; ".join([", ".join(known.names()), *wrong])
    return Finding(NAME, State.NOTE if wrong else State.OK, detail)
