"""A PANDA file as a topology file.

PANDA says nothing of the network, so all nodes hang on one switch; give its links latencies afterwards. Phase
I (time 0) becomes a phase that is ready when all overlay links are up; phase II counts from there.
"""

from __future__ import annotations

import contextlib
import ipaddress
import math
import re
from dataclasses import dataclass, field
from typing import Any

from broker_grpc.content.language import parse_filter
from broker_grpc.errors import BrokerError
from testbed.topology.file.document import write_yaml
from testbed.topology.file.problems import InvalidTopology, Problem
from testbed.topology.file.schema.base import id_problem
from testbed.topology.panda.addresses import Addresses, BadAddress, is_broker, port_of
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
        self.addresses = Addresses()

    def result(self, name: str, linger_s: float) -> Imported:
        self.collect_addresses()
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

    def collect_addresses(self) -> None:
        """First of all: a line may name a broker that a later one adds."""
        for command in self.commands:
            if is_broker(command):
                try:
                    self.addresses.add(command)
                except BadAddress as error:
                    self.complain(command, str(error), "give every broker an address of its own: -p PORT")

    def broker_of(self, command: Command, reference: str) -> str:
        try:
            return self.addresses.broker(reference)
        except BadAddress as error:
            self.complain(command, str(error), f"known: {self.addresses.known()}")
            return ""

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
            if is_broker(command):
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
        with contextlib.suppress(BadAddress):  # complained of already
            if port := port_of(command):
                entry["port"] = port
        wanted = option(command.arguments, "n")
        if wanted:
            entry["neighbours"] = [self.broker_of(command, one) for one in wanted.split(",")]
        self.note_rest(command, {"uri", "n", "i", "p"})
        self.keep(command, self.brokers, command.id, entry)

    def publisher(self, command: Command) -> None:
        """One client per symbol: each has a rate of its own."""
        symbols = (option(command.arguments, "s") or "").split("/")
        rates = (option(command.arguments, "r") or "60").split("/")
        delay = self.number(command, option(command.arguments, "d") or "0")
        if len(rates) not in (1, len(symbols)) or not all(symbols):
            self.complain(command, f"{len(symbols)} symbols and {len(rates)} rates", "one rate per symbol")
            return
        for symbol, told in zip(symbols, rates * (len(symbols) if len(rates) == 1 else 1), strict=True):
            rate = self.number(command, told)
            if not rate > 0:
                self.notes.append(f"{command.id} publishes {symbol} at rate {told}: left out")
                continue
            first = delay + 60 / rate  # PADRES' publisher waits one period before its first quote
            publish = {"source": "stock", "rate": f"{rate:g}/min", "first": seconds(first)}
            entry = {**self.client(command), "publish": {**publish, "parameters": {"symbol": symbol}}}
            id = command.id if len(symbols) == 1 else f"{command.id}-{symbol}"
            self.keep(command, self.clients, id, entry)
        self.note_rest(command, {"i", "s", "r", "d", "b"})

    def subscriber(self, command: Command) -> None:
        filters = _BETWEEN_FILTERS.split(option(command.arguments, "s") or "")
        for text in filters:
            try:
                parse_filter(text.strip())
            except BrokerError as error:
                self.complain(command, f"filter {text.strip()!r}: {error}", 'add -s "[class,eq,...]"')
        entry = {**self.client(command), "subscribe": [text.strip() for text in filters]}
        self.note_rest(command, {"i", "s", "b"})
        self.keep(command, self.clients, command.id, entry)

    def client(self, command: Command) -> dict[str, Any]:
        uri = option(command.arguments, "b")
        if uri is None:
            self.complain(command, f"client {command.id!r} names no broker", "add -b URI")
            return {}
        return {"broker": self.broker_of(command, uri), "node": self.hosts[command.node]}

    def number(self, command: Command, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value < math.inf:
            self.complain(command, f"{text!r} is no number of 0 or more", "seconds, or quotes per minute")
            return 0.0
        return value

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


def usable(address: str) -> bool:
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network("10.0.0.0/8")
    except ValueError:
        return False


def seconds(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".") + "s"
