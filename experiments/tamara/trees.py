"""`--figure trees`: keep-alives of one interval M, counted over the trees of Scribe on Pastry.

The cost model counts subscribers. Here every user is a peer of a Pastry ring at rest, a channel's tree is the
union of its subscribers' routes to the root, and a keep-alive goes over every edge. Scribe's reference
implementation sends one message per parent for all topics together: `batched` counts pairs of child and
parent once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import pandas

from broker_grpc.protocols.clustering.settings import ClusteringSettings
from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.identifiers import key_of
from broker_grpc.protocols.ring.settings import RingSettings
from broker_grpc.protocols.ring.static import members_of
from experiments.tamara.curve import Report, Tables
from experiments.tamara.points import SCALES, SOURCES, Instance
from experiments.tamara.readings import ARRIVAL, COSTS
from experiments.tamara.systems import SCRIBE, TAMARA
from experiments.tamara.workload import MODELS, TWO_MONTHS, Setting, fresh
from testbed.flow.clustering.system import System, bits
from testbed.flow.clustering.timeline import Timeline
from testbed.reproduction.checks import below
from testbed.reproduction.claim import Claim, Finding
from testbed.reproduction.collect import Found, Groups
from testbed.reproduction.point import Point, computed
from testbed.reproduction.study import Ask, Case, Part, Scale
from testbed.sweep.run import Effort

NAME = "trees"
PASTRY = RingSettings(kind="pastry", bootstrap="converged", maintain=False)
Edge = tuple[str, str]  # child, parent


@dataclass(frozen=True)
class Channel:
    key: int
    frequency: float
    subscribers: Sequence[int]
    topics: Sequence[int] = ()  # keys, of a cluster


class Forest:
    """The trees of some channels on one ring."""

    def __init__(self, ring: Converged, channels: Iterable[Channel]) -> None:
        self.ring, self.channels = ring, list(channels)
        self.trees = [tree(ring, channel) for channel in self.channels]

    def keep_alives(self) -> int:
        return sum(map(len, self.trees)) + len(list(self.associations()))

    def batched(self) -> int:
        """One message for all channels that a child shares with a parent, or two roots with each other."""
        return len({*(edge for one in self.trees for edge in one), *self.associations()})

    def associations(self) -> Iterator[Edge]:
        """cost_a: a cluster's root and those of its topics."""
        for channel in self.channels:
            for topic in channel.topics:
                yield self.root(channel.key), self.root(topic)

    def root(self, key: int) -> str:
        return self.ring.route(self.ring.members[0].broker, key)[-1]

    def helpers(self) -> int:
        """Peers in a tree that did not ask for it, summed over the trees."""
        return sum(
            len({peer for edge in one for peer in edge} - set(map(peer_of, channel.subscribers)))
            for one, channel in zip(self.trees, self.channels, strict=True)
        )

    def dissemination(self) -> float:
        """To the root, and over every edge."""
        return sum(c.frequency * (1 + len(t)) for c, t in zip(self.channels, self.trees, strict=True))


def peer_of(user: int) -> str:
    return f"peer {user}"


def tree(ring: Converged, channel: Channel) -> set[Edge]:
    """The union of the subscribers' routes; a route ends where it meets the tree."""
    parents: dict[str, str] = {}
    for user in channel.subscribers:
        at = peer_of(user)
        while at not in parents and (onward := ring.next_hop(at, channel.key)) is not None:
            parents[at] = onward
            at = onward
    return set(parents.items())


def plain(system: System) -> Iterator[Channel]:
    for topic, frequency in enumerate(system.frequencies):
        yield Channel(topic_key(topic), frequency, system.interested.of(topic).tolist())


def clustered(system: System) -> Iterator[Channel]:
    for topic, frequency in enumerate(system.frequencies):
        yield Channel(topic_key(topic), frequency, system.held.of(topic).tolist())
    for row, cluster in system.clusters.items():
        key, topics = key_of(f"cluster {cluster.identity}"), [topic_key(t) for t in bits(cluster.topics)]
        yield Channel(key, cluster.frequency, system.held.of(row).tolist(), topics)


def topic_key(topic: int) -> int:
    return key_of(f"topic {topic}")


def count(report: Report, setting: dict[str, Any], seed: int) -> Tables:
    """At the end of a fresh start."""
    work = fresh(Setting(**setting), seed)
    timeline = Timeline(work.frequencies, work.users, ClusteringSettings(), seed)
    for _ in timeline.run(work.operations, work.period, 1):
        report(f"{len(timeline.system.clusters)} clusters")
    ring = Converged(members_of(map(peer_of, range(work.users))), PASTRY)
    rows = []
    for name, channels in ((SCRIBE, plain), (TAMARA, clustered)):
        forest = Forest(ring, channels(timeline.system))
        rows.append(
            {
                "system": name, "subscriptions": sum(len(c.subscribers) for c in forest.channels),
                "keep_alives": forest.keep_alives(), "batched": forest.batched(), "helpers": forest.helpers(),
                "dissemination": forest.dissemination(),
            }
        )  # fmt: skip
    return {"trees": pandas.DataFrame(rows)}


# ---------------------------------------------------------------- what is judged


def totals(rows: pandas.DataFrame, model: str, system: str, column: str) -> dict[int, float]:
    """Overall cost per M: seed -> value."""
    chosen = rows[(rows.model == model) & (rows.system == system)].set_index("seed")
    return {int(s): float(v) for s, v in (chosen[column] + chosen.dissemination).items()}


def saves(rows: pandas.DataFrame, model: str, column: str) -> Finding:
    ours, plain_ = (totals(rows, model, system, column) for system in (TAMARA, SCRIBE))
    found = below(ours, plain_)
    if not ours:
        return found
    alive = {
        s: float(rows[(rows.model == model) & (rows.system == s)][column].mean()) for s in (TAMARA, SCRIBE)
    }
    changes = (sum(ours.values()) / sum(plain_.values()) - 1, alive[TAMARA] / alive[SCRIBE] - 1)
    return found.said(f"OC {100 * changes[0]:+.1f} %, keep-alives {100 * changes[1]:+.1f} %")


CLAIMS: list[Claim[pandas.DataFrame]] = [
    Claim(
        f"B{number}-{model}", NAME, f"{model}, keep-alives {how}: Tamara cheaper than Scribe over real trees",
        "a question of ours", "lower OC", partial(saves, model=model, column=column), (*COSTS, ARRIVAL.id),
    )
    for number, how, column in ((1, "one by one", "keep_alives"), (2, "batched", "batched"))
    for model in MODELS
]  # fmt: skip


def points(ask: Ask[Instance]) -> Groups:
    base = replace(ask.size.setting, days=TWO_MONTHS * ask.size.shortened)
    return {NAME: [point(replace(base, model=m), seed) for m in MODELS for seed in ask.seeds]}


def point(setting: Setting, seed: int) -> Point:
    labels: dict[str, str | int | float] = {"model": setting.model, "seed": seed}
    name, title = f"{setting.model}-{seed}", f"trees, {setting.model}, seed {seed}"
    arguments = {"setting": asdict(setting)}
    return computed(NAME, name, f"{__name__}:count", arguments, seed, labels, SOURCES, title)


def cases(ask: Ask[Instance], found: Found) -> Sequence[Case]:
    size = f"{ask.size.setting.users} peers, {ask.size.setting.topics} topics, {len(ask.seeds)} seed(s)"
    return [Case(CLAIMS, found.table(NAME), size, rests_on=tuple(map(str, found.missing)))]


PART = Part(
    {name: Scale(scale.size, seeds=scale.seeds) for name, scale in SCALES.items()},
    (NAME,), points, cases, name=NAME, by_default=False, effort=Effort(retries=0, timeout_s=3600),
)  # fmt: skip
