"""A PANDA file as a topology file.

PANDA says nothing of the network, so all nodes hang on one switch; give its links latencies afterwards. Phase
I (time 0) becomes a phase that is ready when all overlay links are up; phase II counts from there.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from typing import Any

from testbed.topology.file.document import write_yaml
from testbed.topology.file.problems import InvalidTopology, Problem
from testbed.topology.file.schema.base import id_problem
from testbed.topology.panda.commands import Command, option, without
from testbed.topology.resolve.network import components
from testbed.topology.resolve.overlay import find_cycle

SWITCH = "lan"
OVERLAY, RUN = "overlay", "run"
_BETWEEN_FILTERS = re.compile(r"(?<=\])\s*/\s*(?=\[)")


@dataclass
class Imported:
    """A topology file's data, and what could not be carried over."""

    data: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def text(self, source: str) -> str:
        lines = [f"Imported from the PANDA file {source}."]
        lines += ["PANDA describes no network: all hosts hang on one switch. Give the links latencies."]
        lines += [f"Not carried over: {note}" for note in self.notes]
        return write_yaml(self.data, "\n".join(lines))


def import_panda(commands: list[Command], name: str, linger_s: float = 60.0, file: str = "") -> Imported:
    """Raises InvalidTopology for commands that make no sense; `linger_s`: how long to run after the last."""
    return _Importer(commands, file).result(name, linger_s)


class _Importer:
    def __init__(self, commands: list[Command], file: str) -> None:
        self.commands = commands
        self.file = file
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.hosts: dict[str, str] = {}  # PANDA's node: ours
        self.brokers: dict[str, Any] = {}
        self.clients: dict[str, Any] = {}
        self.programs: dict[str, Any] = {}
        self.made: dict[str, list[dict[str, Any]]] = {}  # PANDA's id: what it became
        self.first: list[str] = []  # ids of phase I

    def result(self, name: str, linger_s: float) -> Imported:
        # Phase II is sorted by time, whatever the order of lines; phase I keeps the file's order.
        for command in sorted(self.commands, key=lambda one: (one.time_s > 0, one.time_s)):
            if command.verb == "ADD":
                self.add(command)
            else:
                self.remove(command)
        if not self.brokers and not self.problems:
            self.complain(self.commands[0], "the file starts no broker", "add a broker")
        if self.problems:
            raise InvalidTopology(self.problems)
        return Imported(self.data(name, linger_s), self.notes)

    def data(self, name: str, linger_s: float) -> dict[str, Any]:
        last = max((command.time_s for command in self.commands), default=0.0)
        phases = [
            {"name": OVERLAY, "start": self.first, "ready": {"links_up": True, "timeout": "60s"}},
            {"name": RUN, "run_for": seconds(last + linger_s)},
        ]
        sections: dict[str, Any] = {
            "name": name,
            "network": self.network(),
            "brokers": self.brokers,
            "overlay": self.overlay(),
            "clients": self.clients,
            "programs": self.programs,
            "phases": phases,
        }
        return {key: value for key, value in sections.items() if value}

    def overlay(self) -> dict[str, Any]:
        """PANDA checks neither cycles nor parts; what a file has of them is allowed, and noted."""
        ids = list(self.brokers)
        edges = [
            (id, other) for id in ids for other in self.brokers[id].get("neighbours", []) if other in ids
        ]
        overlay: dict[str, Any] = {} if edges else {"links": []}
        if len(components(ids, edges)) > 1:
            overlay["connected"] = False
            self.notes.append("(a warning) the brokers are in several parts")
        if find_cycle(ids, [edge for edge in edges if edge[0] != edge[1]]):
            overlay["cycles"] = "allow"
            self.notes.append("(a warning) the overlay has a cycle; content-based routing needs a tree")
        return overlay

    def network(self) -> dict[str, Any]:
        nodes: dict[str, Any] = {SWITCH: {"kind": "switch"}}
        for theirs, ours in self.hosts.items():
            nodes[ours] = {"address": theirs} if usable(theirs) else {}
            if not usable(theirs):
                self.notes.append(f"node {theirs} is {ours} here, with an address of 10.0.0.0/8")
        links = [{"between": [SWITCH, host], "latency": "0ms"} for host in self.hosts.values()]
        return {"nodes": nodes, "links": links}

    def add(self, command: Command) -> None:
        if text := id_problem(command.id):
            self.complain(command, text, "rename it")
        elif command.id in self.made:
            self.complain(command, f"duplicate id {command.id!r}", "ids are unique")
        else:
            self.hosts.setdefault(command.node, f"n{len(self.hosts) + 1}")
            script = command.script.rpartition("/")[2].lower()
            if "startbroker" in script:
                self.broker(command)
            elif "startsqpublisher" in script:
                self.publisher(command)
            elif "startsqsubscriber" in script:
                self.subscriber(command)
            else:
                entry = {"node": self.hosts[command.node], "command": [command.script, *command.arguments]}
                self.keep(command, self.programs, command.id, entry)

    def keep(self, command: Command, section: dict[str, Any], id: str, entry: dict[str, Any]) -> None:
        """Note a process; phase II ones start by themselves."""
        section[id] = entry
        self.made.setdefault(command.id, []).append(entry)
        if command.time_s == 0:
            self.first.append(id)
        else:
            entry["start_at"] = f"{RUN}+{seconds(command.time_s)}"

    def broker(self, command: Command) -> None:
        entry: dict[str, Any] = {"node": self.hosts[command.node]}
        uri = option(command.arguments, "uri") or ""
        if port := re.search(r":(\d+)/", uri):
            entry["port"] = int(port[1])
        wanted = option(command.arguments, "n")
        if wanted:
            entry["neighbours"] = [broker_of(one) for one in wanted.split(",")]
        self.note_rest(command, {"uri", "n"})
        self.keep(command, self.brokers, command.id, entry)

    def publisher(self, command: Command) -> None:
        """One client per symbol: each has a rate of its own."""
        symbols = (option(command.arguments, "s") or "").split("/")
        rates = (option(command.arguments, "r") or "60").split("/")
        delay = float(option(command.arguments, "d") or 0)
        if len(rates) not in (1, len(symbols)) or not all(symbols):
            self.complain(command, f"{len(symbols)} symbols and {len(rates)} rates", "one rate per symbol")
            return
        for symbol, rate in zip(symbols, rates * (len(symbols) if len(rates) == 1 else 1), strict=True):
            if not float(rate) > 0:
                self.notes.append(f"{command.id} publishes {symbol} at rate {rate}: left out")
                continue
            first = delay + 60 / float(rate)  # PADRES' publisher waits one period before its first quote
            publish = {"source": "stock", "rate": f"{float(rate):g}/min", "first": seconds(first)}
            entry = {**self.client(command), "publish": {**publish, "parameters": {"symbol": symbol}}}
            id = command.id if len(symbols) == 1 else f"{command.id}-{symbol}"
            self.keep(command, self.clients, id, entry)
        self.note_rest(command, {"i", "s", "r", "d", "b"})

    def subscriber(self, command: Command) -> None:
        filters = _BETWEEN_FILTERS.split(option(command.arguments, "s") or "")
        entry = {**self.client(command), "subscribe": [text.strip() for text in filters]}
        self.note_rest(command, {"i", "s", "b"})
        self.keep(command, self.clients, command.id, entry)

    def client(self, command: Command) -> dict[str, Any]:
        uri = option(command.arguments, "b")
        if uri is None:
            self.complain(command, f"client {command.id!r} names no broker", "add -b URI")
            return {}
        return {"broker": broker_of(uri), "node": self.hosts[command.node]}

    def remove(self, command: Command) -> None:
        if command.id not in self.made:
            self.complain(command, f"REMOVE of {command.id!r}, which nothing added before", "ADD it first")
        for entry in self.made.get(command.id, []):
            entry["stop_at"] = f"{RUN}+{seconds(command.time_s)}"

    def note_rest(self, command: Command, known: set[str]) -> None:
        rest = without(command.arguments, known)
        if rest:
            self.notes.append(f"arguments {' '.join(rest)} of {command.id}")

    def complain(self, command: Command, message: str, hint: str) -> None:
        self.problems.append(Problem(self.file, command.line, 1, message, hint))


def broker_of(uri: str) -> str:
    """The broker's id at the end of socket://10.0.1.1:10000/BrokerA."""
    return uri.strip().rstrip("/").rpartition("/")[2]


def usable(address: str) -> bool:
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network("10.0.0.0/8")
    except ValueError:
        return False


def seconds(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".") + "s"
