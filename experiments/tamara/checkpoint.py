"""`--figure checkpoint`: the keep-alives of one interval M at the end of a fresh start, message by message.

`trees` computes edges. Here every peer is the tree machine that brokers run, on its place of the ring: users
join by messages from peer to peer, then one interval passes, and every keep-alive that a machine sends is
counted and taken in by another. Links keep their order and have no latency.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from random import Random
from typing import Any

import pandas

from broker_grpc.protocols.clustering.settings import ClusteringSettings
from broker_grpc.protocols.rendezvous.settings import RendezvousSettings
from broker_grpc.protocols.rendezvous.trees import Trees
from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.identifiers import Member, id_of
from broker_grpc.protocols.ring.static import StaticRing, members_of
from broker_grpc.protocols.ring.substrate import RingHost
from experiments.tamara.curve import Report, Tables
from experiments.tamara.points import SCALES, SOURCES, Instance
from experiments.tamara.readings import ARRIVAL, COSTS
from experiments.tamara.systems import SCRIBE, TAMARA
from experiments.tamara.trees import PASTRY, Channel, Forest, clustered, peer_of, plain
from experiments.tamara.workload import TWO_MONTHS, Setting, fresh
from protos.body import Body, Envelope
from protos.envelope import encoded_size
from protos.records import LogEvent
from protos.rendezvous_messages import TreeHeartbeat
from testbed.flow.clustering.system import System
from testbed.flow.clustering.timeline import Timeline
from testbed.reproduction.claim import Claim, Finding
from testbed.reproduction.collect import Found, Groups
from testbed.reproduction.point import Point, computed
from testbed.reproduction.study import Ask, Case, Part, Scale
from testbed.sweep.run import Effort

NAME = "checkpoint"
M_US = 360_000_000  # six minutes
Message = tuple[str, str, Envelope]  # by whom, to whom


class Place(StaticRing):
    """`StaticRing` on tables that all peers share: nobody's membership changes."""

    def __init__(self, host: RingHost, ring: Converged) -> None:
        self.plane, self.listeners, self.joined = 0, [], True
        self._host, self._settings, self._converged = host, PASTRY, ring
        self._members = {host.id: Member(id_of(host.id), host.id)}


class Peer:
    """`RingHost` and `TreeHost`: a place on the ring and its part of all trees."""

    def __init__(self, name: str, out: deque[Message], ring: Converged, batch: bool) -> None:
        self.id, self.now_us, self.random = name, 0, Random(0)
        self._out = out
        settings = RendezvousSettings(
            ring=PASTRY, heartbeats="down", batch_heartbeats=batch, heartbeat_interval_us=M_US
        )
        self.trees = Trees(self, Place(self, ring), settings)

    def post(self, peer: str, envelope: Envelope) -> None:
        self._out.append((self.id, peer, envelope))

    def send(self, peer: str, body: Body, request: int = 0) -> None:
        self.post(peer, Envelope(body, 1, request))

    def log(self, event: LogEvent) -> None:
        """Edges are counted by what goes over them."""

    def rtt_us(self, peer: str) -> int | None:
        return None

    def demand(self, plane: int, wanted: Any) -> None:
        """Every peer reaches every other."""

    def demand_trees(self, plane: int, wanted: dict[str, str]) -> None:
        """Every peer reaches every other."""


class Peers:
    def __init__(self, ring: Converged, batch: bool) -> None:
        self._queue: deque[Message] = deque()
        names = [member.broker for member in ring.members]
        self._peers = {name: Peer(name, self._queue, ring, batch) for name in names}
        self.sent: Counter[str] = Counter()
        self.size: Counter[str] = Counter()  # bytes

    def join(self, channels: Iterable[tuple[str, Channel]]) -> None:
        for name, channel in channels:
            for user in channel.subscribers:
                self._peers[peer_of(user)].trees.subscribe(name)
            self._deliver()

    def interval(self) -> None:
        """One M passes."""
        for peer in self._peers.values():
            peer.now_us = M_US
        for peer in self._peers.values():
            peer.trees.deadline(M_US)
        self._deliver()

    def _deliver(self) -> None:
        while self._queue:
            sender, to, envelope = self._queue.popleft()
            self.sent[envelope.body.type] += 1
            if isinstance(envelope.body, TreeHeartbeat):
                self.size[envelope.body.type] += encoded_size(envelope)
            assert self._peers[to].trees.received(sender, envelope)


def named(system: System, channels: Iterable[Channel]) -> list[tuple[str, Channel]]:
    """By the names whose keys they have: topics first, then clusters in the order of their rows."""
    clusters = [f"cluster {one.identity}" for one in system.clusters.values()]
    names = [*(f"topic {topic}" for topic in range(system.topics)), *clusters]
    return list(zip(names, channels, strict=False))


def count(report: Report, setting: dict[str, Any], seed: int) -> Tables:
    work = fresh(Setting(**setting), seed)
    timeline = Timeline(work.frequencies, work.users, ClusteringSettings(), seed)
    for _ in timeline.run(work.operations, work.period, 1):
        report(f"{len(timeline.system.clusters)} clusters")
    ring = Converged(members_of(map(peer_of, range(work.users))), PASTRY)
    rows = []
    for name, channels in ((SCRIBE, plain), (TAMARA, clustered)):
        listed = named(timeline.system, channels(timeline.system))
        for batch in (False, True):
            rows.append({"system": name, **one(report, ring, listed, batch)})
    return {"checkpoint": pandas.DataFrame(rows)}


def one(report: Report, ring: Converged, channels: list[tuple[str, Channel]], batch: bool) -> dict[str, Any]:
    peers = Peers(ring, batch)
    peers.join(channels)
    joins = sum(peers.sent.values())
    report(f"{joins} messages to join {len(channels)} trees")
    peers.sent.clear()
    peers.interval()
    forest = Forest(ring, [channel for _, channel in channels])
    edges = [edge for tree in forest.trees for edge in tree]
    return {
        "keep_alives": "batched" if batch else "one by one", "joins": joins,
        "messages": peers.sent["tree_heartbeat"], "bytes": peers.size["tree_heartbeat"],
        "others": sum(peers.sent.values()) - peers.sent["tree_heartbeat"],
        "computed": len(set(edges)) if batch else len(edges),
    }  # fmt: skip


# ---------------------------------------------------------------- what is judged


def as_computed(rows: pandas.DataFrame) -> Finding:
    """Edge by edge, as `trees` counts them; nothing else is said in a quiet interval."""
    if not len(rows):
        return Finding(None, "", "no point is done")
    wrong = rows[(rows.messages != rows.computed) | (rows.others != 0)]
    told = "; ".join(f"{r.system} {r.keep_alives}: {r.messages:,} messages" for r in rows.itertuples())
    return Finding(not len(wrong), told)


CLAIMS: list[Claim[pandas.DataFrame]] = [
    Claim(
        "C1", NAME, "as many keep-alives are sent in an interval as trees have edges", "a question of ours",
        "equal integers", as_computed, (*COSTS, ARRIVAL.id),
    )
]  # fmt: skip


def points(ask: Ask[Instance]) -> Groups:
    base = replace(ask.size.setting, days=TWO_MONTHS * ask.size.shortened)
    return {NAME: [point(base, seed) for seed in ask.seeds]}


def point(setting: Setting, seed: int) -> Point:
    labels: dict[str, str | int | float] = {"model": setting.model, "seed": seed}
    title = f"checkpoint, {setting.model}, seed {seed}"
    sources = (*SOURCES, "broker_grpc.protocols.rendezvous", "broker_grpc.protocols.ring")
    arguments = {"setting": asdict(setting)}
    name = f"{setting.model}-{seed}"
    return computed(NAME, name, f"{__name__}:count", arguments, seed, labels, sources, title)


def cases(ask: Ask[Instance], found: Found) -> Sequence[Case]:
    size = f"{ask.size.setting.users} peers, {ask.size.setting.topics} topics, {len(ask.seeds)} seed(s)"
    return [Case(CLAIMS, found.table(NAME), size, rests_on=tuple(map(str, found.missing)))]


PART = Part(
    {name: Scale(scale.size, seeds=1) for name, scale in SCALES.items()},
    (NAME,), points, cases, name=NAME, by_default=False, effort=Effort(retries=0, timeout_s=3600),
)  # fmt: skip
