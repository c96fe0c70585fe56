"""Figures 7, 8 and 9: users whose wishes change at random, all systems on one placement (6.1.2).

`static` places users once, uniformly at random; `similar` places them as DYNATOPS does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
import pandas

from broker_grpc.protocols.dynatops.greedy import Stopping
from experiments.dynatops.rings import ring
from experiments.dynatops.rows import looks_of, placed, row_of
from testbed.flow.dynatops.connected import Connected
from testbed.flow.dynatops.hosting import Hosting
from testbed.flow.dynatops.measuring import Slot
from testbed.flow.dynatops.network import Manager, Network
from testbed.flow.dynatops.playing import Course, Look, Published, by_anybody, play
from testbed.flow.dynatops.similar import Clusters, Placement, clusters_of
from testbed.flow.dynatops.story import Floats, Ints, Story, of_changes, start_of
from testbed.topology.seeding import seed_for
from testbed.workload.topic_changes import Pattern, Population, changes

Report = Callable[[str], None]
Tables = dict[str, pandas.DataFrame]
STATIC = ("bayeux-2", "bayeux-4", "bayeux-16", "chash", "bnr", "bnr-prefix")
SIMILAR = ("up", "up-prefix", "dynatops", "dynatops-prefix")
RING = {
    "bayeux-2": "tapestry-2", "bayeux-4": "tapestry-4", "bayeux-16": "tapestry-16", "chash": "chord",
    "bnr": "chord", "up": "chord", "dynatops": "chord", "bnr-prefix": "tapestry-16",
    "up-prefix": "tapestry-16", "dynatops-prefix": "tapestry-16",
}  # fmt: skip
MANAGED = ("bnr", "bnr-prefix", "dynatops", "dynatops-prefix")


def poisson(
    report: Report, systems: list[str], users: int, brokers: int, topics: int, hours: int, pattern: Pattern,
    exponent: float, modes: int, rate: float, cluster: int, load: float, update: int, period: int,
    delay_weight: float, stopping: Stopping, count_root: bool, with_user: bool, share_of_all: bool,
    rounds: int, rates: Literal["equal", "popular"], events: float, renew: bool, seed: int,
) -> Tables:  # fmt: skip
    """`load`: w_l in units of the number of brokers whose loads are compared. `rounds`: in so many turns
    users come at the start; between two of them clusters tell each other. `events`: of a topic in an hour.
    """
    population = Population(users, topics, pattern=pattern, modes=modes, exponent=exponent)
    random = np.random.default_rng(seed_for(seed, "dynatops poisson", users, topics, pattern, str(exponent)))
    start, changed = changes(population, rate, hours, random)
    story = of_changes(start, changed, topics)
    hourly = events * _events(start, topics, rates)
    report(f"{story.user.size} changes")
    home = random.integers(brokers, size=users).astype(np.int32)
    manager = Manager(period, delay_weight, stopping, count_root)
    made = {name: _network(name, brokers, topics, seed, manager) for name in systems if name != "tco"}
    rows: list[dict[str, Any]] = []
    static = [name for name in systems if name in (*STATIC, "tco")]
    if static:
        rows += _static(story, Course(hours, 1, 1), home, brokers, hourly, made, static, renew, random)
        report("static placement: " + ", ".join(static))
    similar = [name for name in systems if name in SIMILAR]
    if similar:
        clusters = clusters_of(np.arange(brokers, dtype=np.int32) // cluster)
        shared = brokers if share_of_all else cluster
        placement = Placement(clusters, load * shared, share_of_all, with_user)
        course = Course(hours, update, update)
        rows += _similar(story, course, home, brokers, hourly, made, similar, placement, rounds)
        report("similar placement: " + ", ".join(similar))
    return {"poisson": pandas.DataFrame(rows), "looks": looks_of(made)}


def _events(start: Ints, topics: int, rates: str) -> Floats:
    """Of each topic, one on average: all alike, or in proportion to its users."""
    if rates == "equal":
        return np.ones(topics)
    wanted = np.bincount(start.ravel(), minlength=topics)
    return np.asarray(wanted / wanted.mean())


def _network(name: str, brokers: int, topics: int, seed: int, manager: Manager) -> Network:
    made = ring(RING[name], brokers, topics, seed)
    return Network(made.overlay, made.position, manager=manager if name in MANAGED else None)


def _static(
    story: Story, course: Course, home: Ints, brokers: int, events: Floats, made: dict[str, Network],
    systems: list[str], renew: bool, random: np.random.Generator,
) -> list[dict[str, Any]]:  # fmt: skip
    hosting = Hosting(story, brokers)
    arrivals = start_of(story)
    hosting.assigned(arrivals, slice(0, story.users), home[arrivals.user])
    connected = Connected(brokers, story.topics, random, renew) if "tco" in systems else None
    look = by_anybody(events)
    if connected is not None:
        connected.found(hosting.users > 0)
        look = _beside(look, connected, random)

    def serve(hosting: Hosting, rows: slice) -> None:
        hosting.assigned(story, rows, home[story.user[rows]])

    networks = [made[name] for name in systems if name in made]
    played = play(story, course, hosting, serve, look, networks)
    rows = [row_of(name, made[name], played) for name in systems if name in made]
    if connected is not None:
        rows.append({
            "system": "tco", **placed(played), **asdict(connected.sums), "tree_messages": 0.0,
            "reconfiguration": float(connected.changed_links),
            "reconfigurations": connected.reconfigurations, "moved": 0, "links": len(connected.links),
        })  # fmt: skip
    return rows


def _beside(look: Look, connected: Connected, random: np.random.Generator) -> Look:
    """The topic-connected overlay looks at the same slots, with one publisher drawn for each topic."""

    def looked(hosting: Hosting, published: Published) -> Slot:
        slot = look(hosting, published)
        publishers = np.array(hosting.at)[random.integers(len(hosting.at), size=hosting.topics)]
        connected.slot_over(slot, publishers)
        return slot

    return looked


def _similar(
    story: Story, course: Course, home: Ints, brokers: int, events: Floats, made: dict[str, Network],
    systems: list[str], placement: Placement, rounds: int,
) -> list[dict[str, Any]]:  # fmt: skip
    hosting = Hosting(story, brokers)
    clusters: Clusters = placement.clusters
    arrivals = start_of(story)
    for turn in np.array_split(np.arange(story.users), rounds):
        placement.tell(hosting)
        rows = slice(int(turn[0]), int(turn[-1]) + 1) if turn.size else slice(0, 0)
        placement.serve(hosting, arrivals, rows, clusters.of[home[arrivals.user[rows]]])

    def serve(hosting: Hosting, rows: slice) -> None:
        placement.serve(hosting, story, rows, clusters.of[home[story.user[rows]]])

    networks = [made[name] for name in systems]
    played = play(story, course, hosting, serve, by_anybody(events * course.slot), networks, placement)
    return [row_of(name, made[name], played) for name in systems]
