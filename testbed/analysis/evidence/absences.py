"""When a client was without a broker: from losing it to having everything acknowledged again that it held."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from testbed.run.faults import LOSSES

FOREVER = 2**62
HELD = ("SUBSCRIBED", "ADVERTISED")
WITHDRAWN = ("UNSUBSCRIBED", "UNADVERTISED")


@dataclass(frozen=True)
class Absence:
    start_us: int
    end_us: int  # FOREVER = it never came back
    away: bool  # its process was gone; otherwise only its broker

    def touches(self, start_us: int, end_us: int) -> bool:
        return self.start_us <= end_us and start_us <= self.end_us


@dataclass
class _Presence:
    """One client, event by event."""

    brokers: set[str] = field(default_factory=set)
    held: dict[str, str] = field(default_factory=dict)  # id -> content of what is acknowledged
    since_us: int | None = None  # without a broker, or not all is acknowledged yet
    away: bool = False
    lacking: set[str] = field(default_factory=set)
    found: list[Absence] = field(default_factory=list)

    def lose(self, t_us: int, away: bool) -> None:
        if self.since_us is None:
            self.since_us = t_us
            self.lacking = set(self.held.values())
        self.held.clear()
        self.brokers.clear()
        self.away |= away

    def disconnect(self, t_us: int, peer: str) -> None:
        self.brokers.discard(peer)
        if not self.brokers:  # one that migrates has the next broker before it leaves the last
            self.lose(t_us, away=False)

    def connect(self, t_us: int, peer: str) -> None:
        self.brokers.add(peer)
        self._close_if_whole(t_us)

    def hand_over(self, t_us: int, source: str, target: str, ids: dict[str, str]) -> None:
        """It has left the old broker without losing it."""
        self.brokers.discard(source)
        self.held = {ids.get(id_, id_): content for id_, content in self.held.items()}
        self.connect(t_us, target)

    def hold(self, t_us: int, id_: str, content: str, peer: str) -> None:
        self.held[id_] = content
        self.lacking.discard(content)
        self.connect(t_us, peer)

    def withdraw(self, t_us: int, id_: str) -> None:
        self.lacking.discard(self.held.pop(id_, ""))

    def _close_if_whole(self, t_us: int) -> None:
        if self.since_us is not None and not self.lacking:
            self.found.append(Absence(self.since_us, t_us, self.away))
            self.since_us, self.away = None, False

    def all(self) -> tuple[Absence, ...]:
        open_ = [] if self.since_us is None else [Absence(self.since_us, FOREVER, self.away)]
        return (*self.found, *open_)


def absences(rare: list[dict[str, Any]], clients: Collection[str]) -> dict[str, tuple[Absence, ...]]:
    """`rare`: events of rare kinds in order of time; clients that were always there are left out."""
    seen: dict[str, _Presence] = defaultdict(_Presence)
    for event in rare:
        gone = gone_process(event)
        if gone in clients:
            seen[gone].lose(event["t_us"], away=True)
        elif event["node"] in clients:
            _take(seen[event["node"]], event)
    return {client: presence.all() for client, presence in seen.items() if presence.all()}


def gone_process(event: dict[str, Any]) -> str:
    """The process that an event of the harness ends; "" for any other event."""
    ends = event["kind"] == "FAULT_STARTED" and event["type"] in LOSSES | {"restart"}
    if not ends and event["kind"] != "CRASHED":
        return ""
    return str(event["detail"] or event["node"])


def renamed(event: dict[str, Any]) -> dict[str, str]:
    """Id of a subscription -> its id at the broker to which the client was handed over."""
    return dict(json.loads(event["content"])) if event["content"] else {}


def _take(client: _Presence, event: dict[str, Any]) -> None:
    kind, t_us = event["kind"], event["t_us"]
    if kind == "STOPPED":
        client.lose(t_us, away=True)
    elif kind == "DISCONNECTED":
        client.disconnect(t_us, event["peer"])
    elif kind == "HANDED_OVER":
        client.hand_over(t_us, event["detail"], event["peer"], renamed(event))
    elif kind in ("CONNECTED", "MIGRATED"):
        client.connect(t_us, event["peer"])
    elif kind in HELD:
        client.hold(t_us, event["message"], event["content"], event["peer"])
    elif kind in WITHDRAWN:
        client.withdraw(t_us, event["message"])
