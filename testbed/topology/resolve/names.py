"""Who is meant: process ids from the words that phases and events use."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field

from testbed.topology.plan import Broker, Client, Node, Program
from testbed.topology.resolve.expand import Steps
from testbed.topology.resolve.report import Report


@dataclass
class Names:
    """All processes by id, group and category; hosts of brokers by id."""

    ids: list[str] = field(default_factory=list)
    sets: dict[str, list[str]] = field(default_factory=dict)
    hosts: dict[str, str] = field(default_factory=dict)  # of brokers and of nodes
    routers: frozenset[str] = frozenset()  # nodes on which nothing runs

    def look_up(self, words: list[str], path: Steps, report: Report) -> list[str]:
        """Process ids meant by the words, each once, in order of mention."""
        out: dict[str, None] = {}
        for k, word in enumerate(words):
            where = (*path, k)
            found = self._meant(word)
            if found is None:
                report.unknown(where, "process or group", word, [*self.sets, *self.ids])
            out.update(dict.fromkeys(found or []))
        return list(out)

    def _meant(self, word: str) -> list[str] | None:
        if word in self.sets:
            return self.sets[word]
        if word in self.ids:
            return [word]
        found = [id for id in self.ids if "*" in word and fnmatch.fnmatchcase(id, word)]
        return found or None


def names_of(
    brokers: list[Broker], clients: list[Client], programs: list[Program], nodes: list[Node], report: Report
) -> Names:
    """The directory of all processes; one id belongs to one process."""
    names = Names()
    publishers = [client.id for client in clients if client.publications]
    names.sets = {
        "brokers": [broker.id for broker in brokers],
        "clients": [client.id for client in clients],
        "publishers": publishers,
        "subscribers": [client.id for client in clients if not client.publications],
        "programs": [program.id for program in programs],
    }
    sections = {"brokers": brokers, "clients": clients, "programs": programs}
    seen: dict[str, str] = {}
    for section, processes in sections.items():
        for process in processes:  # type: ignore[attr-defined]
            names.sets.setdefault(process.group, []).append(process.id)
            if process.id in seen:
                hint = f"{seen[process.id]} has it already; change an id pattern"
                report.add((section, process.group), f"duplicate id {process.id!r}", hint, key=True)
            seen.setdefault(process.id, f"the group {process.group!r} of `{section}`")
    names.ids = list(seen)
    names.hosts = {node.id: node.id for node in nodes} | {broker.id: broker.node for broker in brokers}
    names.routers = frozenset(node.id for node in nodes if node.kind == "switch").difference(
        names.sets["brokers"]
    )
    return names
