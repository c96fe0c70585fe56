"""Section 6.3.3: a network configured by the greedy algorithm against one from consistent hashing.

Topics and brokers have random places on a Chord ring; who sits where is random with consistent hashing, and
what the algorithm makes of it. Every topic has one event.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas

from broker_grpc.protocols.dynatops.greedy import NotificationCost, Stopping, ssbr_greedy
from broker_grpc.protocols.dynatops.routes import Routes
from broker_grpc.protocols.dynatops.situation import Floats, Situation
from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.identifiers import Member
from broker_grpc.protocols.ring.next_hops import next_hops, top_down_parents
from broker_grpc.protocols.ring.settings import Kind, RingSettings
from testbed.topology.seeding import seed_for

Pattern = Literal["uniform", "multimodal"]
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)
MODE = 10  # topics of a mode (section 6.1.2)
BaseBits = Literal[1, 2, 4, 8]
Report = Callable[[str], None]


def configure(
    report: Report,
    brokers: int,
    topics: int,
    each: int,
    delay_weight: float,
    ring: Kind,
    base_bits: BaseBits,
    stopping: Stopping,
    count_root: bool,
    delays: Literal["hops", "random"],
    seed: int,
) -> dict[str, pandas.DataFrame]:
    """A row per pattern: the network before and after, and what computing it took."""
    varied = {"delay_weight": delay_weight, "count_root": count_root}
    rows = [
        one_pattern(report, brokers, topics, pattern, each, (ring, base_bits), stopping, delays, seed, varied)
        for pattern in PATTERNS
    ]
    return {"configurations": pandas.DataFrame(rows)}


def one_pattern(
    report: Report,
    brokers: int,
    topics: int,
    pattern: Pattern,
    each: int,
    ring: tuple[Kind, BaseBits],
    stopping: Stopping,
    delays: Literal["hops", "random"],
    seed: int,
    varied: dict[str, Any],
) -> dict[str, Any]:
    random = np.random.default_rng(seed_for(seed, "dynatops scaling", brokers, topics, pattern, each))
    routes, tree = network(brokers, topics, *ring, random)
    links = link_delays(brokers, random) if delays == "random" else None
    wanted = subscriptions(brokers, topics, pattern, each, random)
    situation = Situation(routes, tree, wanted, np.ones(topics), link_delay=links, **varied)
    hashed = random.permutation(brokers).astype(np.int16)
    begun = process_time()
    path = list(ssbr_greedy(situation, hashed, stopping))
    seconds = process_time() - begun
    report(f"{len(path) - 1} swaps in {seconds:.2f} s")
    before, after = (measured(situation, one.position) for one in (path[0], path[-1]))
    row: dict[str, Any] = {"pattern": pattern, "swaps": len(path) - 1, "seconds": seconds}
    return row | {f"hashed_{name}": value for name, value in before.items()} | after


def network(
    brokers: int, topics: int, ring: Kind, base_bits: BaseBits, random: np.random.Generator
) -> tuple[Routes, npt.NDArray[np.int16]]:
    """The routes from the brokers that are some topic's rendezvous point, and which is whose."""
    ids = np.sort(random.choice(np.iinfo(np.int64).max, brokers, replace=False))
    members = [Member(int(one) << 1, f"B{at}") for at, one in enumerate(ids)]
    settled = Converged(members, RingSettings(kind=ring, base_bits=base_bits))
    index = {member.broker: at for at, member in enumerate(settled.members)}
    keys = random.integers(np.iinfo(np.uint64).max, size=topics, dtype=np.uint64)
    roots = np.array([index[settled.responsible(int(key))] for key in keys])
    distinct, tree = np.unique(roots, return_inverse=True)
    hops = next_hops(settled)
    return Routes([top_down_parents(hops, int(root)) for root in distinct]), tree.astype(np.int16)


def subscriptions(
    brokers: int, topics: int, pattern: Pattern, each: int, random: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Topics of each broker: from all of them, or from one mode."""
    found = np.zeros((brokers, topics), dtype=bool)
    for row in found:
        if pattern == "uniform":
            row[random.choice(topics, each, replace=False)] = True
        else:
            first = MODE * int(random.integers(topics // MODE))
            row[first + random.choice(MODE, each, replace=False)] = True
    return found


def link_delays(brokers: int, random: np.random.Generator) -> Floats:
    """Between brokers, in units of their mean: the distances of random places, and 20 % around them."""
    places = random.random((brokers, 2))
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)
    delay = np.triu(distance * random.uniform(0.8, 1.2, distance.shape), 1)
    delay += delay.T
    return np.asarray(delay / delay[~np.eye(brokers, dtype=bool)].mean() if brokers > 1 else delay)


def measured(situation: Situation, position: npt.NDArray[np.int16]) -> dict[str, float]:
    """Delay per delivery to a broker, and messages per event down the trees."""
    state = NotificationCost(situation, position)
    deliveries = float((situation.subscribed * situation.events).sum())
    consumed = deliveries - float(state.relays.here[np.arange(situation.topics), situation.root].sum())
    return {
        "delay": float(state.delays.cost().sum()) / deliveries,
        "overhead": (consumed + state.relays.total()) / situation.topics,
        "relays": state.relays.total() / situation.topics,
        "cost": state.total(),
    }
