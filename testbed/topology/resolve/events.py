"""Events: one mapping of the file into the plan's single steps; flaps and churn are unrolled here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed.topology.file.schema import TopologyFile
from testbed.topology.file.schema.timeline import Churn, EventSpec, Flap, Reshape
from testbed.topology.generators.rtt_matrix import BadMatrix, pair_latencies, parse_matrix
from testbed.topology.plan import Action, Broker, Event, Network, Phase
from testbed.topology.resolve.expand import Steps
from testbed.topology.resolve.foresight import Told, check_begin
from testbed.topology.resolve.instructions import exchange_events, set_events
from testbed.topology.resolve.names import Names
from testbed.topology.resolve.network import read_text
from testbed.topology.resolve.phases import instant
from testbed.topology.resolve.report import Report
from testbed.topology.seeding import Draw

PROCESS_ACTIONS: tuple[Action, ...] = ("kill", "stop", "start", "restart", "join", "leave")
LINK_ACTIONS: tuple[Action, ...] = ("link_down", "link_up")
ACTIONS = (
    *PROCESS_ACTIONS, *LINK_ACTIONS, "flap", "reshape", "partition", "heal", "exchange", "set", "churn",
)  # fmt: skip


@dataclass
class Context:
    """What events are checked against."""

    seed: int
    names: Names
    phases: list[Phase]
    network: Network
    late: set[str]
    report: Report
    folder: Path
    brokers: dict[str, Broker]
    edges: list[tuple[str, str]]  # of the overlay, as the events before have left it

    @property
    def links(self) -> list[str]:
        return [link.id for link in self.network.links]


def build_events(file: TopologyFile, context: Context) -> list[Told]:
    """All steps of the file's events, with their places, in the file's order."""
    told: list[Told] = []
    for i, spec in enumerate(file.events):
        path: Steps = ("events", i)
        named = [action for action in ACTIONS if getattr(spec, action) is not None]
        if len(named) != 1:
            hint = "exactly one of " + ", ".join(ACTIONS)
            what = f"{len(named)} actions ({', '.join(named)})" if named else "no action"
            context.report.add(path, f"an event with {what}", hint)
            continue
        moment = instant(spec.at, context.phases, (*path, "at"), context.report)
        if moment is not None:
            where = (*path, named[0])
            told.extend((where, event) for event in _unrolled(spec, named[0], moment, where, context))
    return told


def in_order(events: list[Event], phases: list[Phase]) -> list[Event]:
    number = {phase.name: i for i, phase in enumerate(phases)}
    return sorted(events, key=lambda event: (number[event.phase], event.at_us))


def _unrolled(
    spec: EventSpec, action: str, moment: tuple[str, int], path: Steps, context: Context
) -> list[Event]:
    value = getattr(spec, action)
    if action in PROCESS_ACTIONS:
        words, where = ([value], (*path[:-1], action)) if isinstance(value, str) else (value, path)
        ids = context.names.look_up(words, where, context.report)
        if action == "join":
            _check_join(ids, path, context)
        return [Event(*moment, action, id) for id in ids]
    if action in LINK_ACTIONS:
        links = [value] if isinstance(value, str) else value
        found = [link for k, link in enumerate(links) if _known_link(link, (*path, k), context)]
        return [Event(*moment, action, link) for link in found]
    if action == "flap":
        return _flap(value, moment, path, context)
    if action == "reshape":
        return _reshape(value, moment, path, context)
    if action == "exchange":
        return exchange_events(value, moment, path, context.brokers, context.edges, context.report)
    if action == "set":
        words = [value.broker] if isinstance(value.broker, str) else value.broker
        ids = context.names.look_up(words, (*path, "broker"), context.report)
        return set_events(value, ids, moment, path, context.brokers, context.report)
    if action == "churn":
        return _churn(value, moment, path, context)
    if action == "partition":
        return _partition(value, moment, path, context)
    if not value:
        context.report.add(path, "heal: false does nothing", "heal: true ends the partition")
    return [Event(*moment, "heal")]


def _check_join(ids: list[str], path: Steps, context: Context) -> None:
    for id in ids:
        if id not in context.late:
            hint = "use `start` for one that was stopped, or take it out of the phase"
            context.report.add(path, f"{id!r} cannot join: a phase starts it", hint)


def _known_link(link: str, path: Steps, context: Context) -> bool:
    if link in context.links:
        return True
    ends = link.split("-", 1)
    turned = f"{ends[1]}-{ends[0]}" if len(ends) == 2 else ""
    if turned in context.links:
        context.report.add(path, f"there is no link {link!r}", f"its name is {turned!r}")
    else:
        context.report.unknown(path, "link", link, context.links)
    return False


def _flap(spec: Flap, moment: tuple[str, int], path: Steps, context: Context) -> list[Event]:
    if not _known_link(spec.link, (*path, "link"), context):
        return []
    phase, at = moment
    out = []
    for _ in range(spec.times):
        out.append(Event(phase, at, "link_down", spec.link))
        out.append(Event(phase, at + spec.down_for, "link_up", spec.link))
        at += spec.down_for + spec.up_for
    return out


def _reshape(spec: Reshape, moment: tuple[str, int], path: Steps, context: Context) -> list[Event]:
    if bool(spec.matrix) == (spec.link is not None):
        context.report.add(
            path, "reshape takes a link or a matrix, one of the two", "write `link:` or `matrix:`"
        )
        return []
    if spec.link is None:
        return _reshape_pairs(spec, moment, path, context)
    if not _known_link(spec.link, (*path, "link"), context):
        return []
    named: dict[str, Any] = {
        "latency_us": spec.latency,
        "jitter_us": spec.jitter,
        "loss": spec.loss,
        "bandwidth_bps": spec.bandwidth,
    }
    arguments = {key: value for key, value in named.items() if value is not None}
    if not arguments:
        context.report.add(path, "reshape changes nothing", "name latency, jitter, loss or bandwidth")
    return [Event(*moment, "reshape", spec.link, arguments)]


def _reshape_pairs(spec: Reshape, moment: tuple[str, int], path: Steps, context: Context) -> list[Event]:
    if spec.model_fields_set - {"matrix"}:
        context.report.add(path, "a matrix has round trips only", "reshape links in events of their own")
    hosts = list(dict.fromkeys(pair.a for pair in context.network.pairs))
    try:
        matrix = parse_matrix(read_text(context.folder / spec.matrix))
        pairs = list(pair_latencies(matrix, hosts))
    except (OSError, UnicodeDecodeError, BadMatrix) as error:
        hint = "n lines of n round trips in ms"
        context.report.add((*path, "matrix"), f"no matrix of round trips: {error}", hint)
        return []
    arguments = {"matrix": spec.matrix, "pairs": [[pair.a, pair.b, pair.latency_us] for pair in pairs]}
    return [Event(*moment, "reshape", "", arguments)]


def _partition(words: list[str], moment: tuple[str, int], path: Steps, context: Context) -> list[Event]:
    nodes = []
    for k, word in enumerate(words):
        if word in context.names.hosts:
            nodes.append(context.names.hosts[word])
        else:
            context.report.unknown((*path, k), "node or broker", word, context.names.hosts)
    every = {node.id for node in context.network.nodes if node.kind == "host"}
    if every and every <= set(nodes):
        context.report.add(path, "a partition with every host on one side", "name the hosts of one side only")
    return [Event(*moment, "partition", "", {"nodes": sorted(set(nodes))})]


def _churn(spec: Churn, moment: tuple[str, int], path: Steps, context: Context) -> list[Event]:
    """Poisson departures among the present members, each coming back after an exponential time."""
    check_begin(moment, context.phases, path, context.report)
    members = context.names.look_up(spec.of, (*path, "of"), context.report)
    phase, begin = moment
    draw = Draw(context.seed, "churn", *[str(step) for step in path])
    back: list[tuple[int, str]] = []
    present = [id for id in members if id not in context.late]
    out = []
    at = float(begin)
    while members:
        at += draw.exponential(1_000_000 / spec.rate)
        if at > begin + spec.lasts:
            break
        now = int(at)
        present += [id for when, id in back if when <= now]
        back = [(when, id) for when, id in back if when > now]
        if len(present) <= spec.keep:
            continue
        id = present.pop(draw.below(len(present)))
        out.append(Event(phase, now, "kill" if spec.crash else "leave", id))
        if spec.comes_back:
            when = now + max(1, int(draw.exponential(spec.away)))
            out.append(Event(phase, when, "start" if spec.crash else "join", id))
            back.append((when, id))
    return out
