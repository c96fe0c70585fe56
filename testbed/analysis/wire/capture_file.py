"""Which capture file is whose."""

from __future__ import annotations

from dataclasses import dataclass

from testbed.analysis.wire.envelope import BUILTIN, KnownMessages


@dataclass(frozen=True)
class Capture:
    """A capture file and whose it is."""

    path: str
    run: str = ""
    node: str = ""
    interface: str = ""
    addresses: frozenset[int] = frozenset()  # IPv4 of the capturing host; empty = count both directions
    captured: frozenset[int] = frozenset()  # IPv4 of all hosts with a capture
    ports: frozenset[int] = frozenset()  # broker ports; empty = every port
    until_ns: int = 0  # messages from this instant on are counted apart, as late; 0 = none is late
    known: KnownMessages = BUILTIN  # how the messages in it are called
