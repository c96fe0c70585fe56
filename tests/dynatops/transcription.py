"""The paper word by word, slow and obvious: what the quick algorithms are held against."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from broker_grpc.protocols.dynatops.situation import Situation


@dataclass
class Judged:
    relays: float
    delay: float
    by_broker: list[float]
    cost: float


def route(situation: Situation, topic: int, position: int) -> list[int]:
    """From the rendezvous point to a position."""
    parent = situation.routes.parent[situation.tree[topic]]
    found = [position]
    while parent[found[-1]] >= 0:
        found.append(int(parent[found[-1]]))
    return found[::-1]


def judge(situation: Situation, position: list[int]) -> Judged:
    """(3), (4), (5) and (10) to (12), tree by tree."""
    broker_at = {v: b for b, v in enumerate(position)}
    relays = delay = 0.0
    costs = [0.0] * len(position)
    for topic in range(situation.topics):
        events = float(situation.events[topic])
        in_tree: set[int] = set()
        for broker, v in enumerate(position):
            if situation.subscribed[broker, topic]:
                way = route(situation, topic, v)
                in_tree.update(way)
                took = sum(hop(situation, broker_at[a], broker_at[b]) for a, b in pairwise(way))
                delay += events * took
                costs[broker] += situation.delay_weight * events * took
        for v in in_tree:
            broker = broker_at[v]
            is_root = v == int(situation.root[topic])
            if not situation.subscribed[broker, topic] and (situation.count_root or not is_root):
                relays += events
                costs[broker] += events
    return Judged(relays, delay, costs, relays + situation.delay_weight * delay)


def hop(situation: Situation, a: int, b: int) -> float:
    return 1.0 if situation.link_delay is None else float(situation.link_delay[a, b])


def swapped(position: list[int], a: int, b: int) -> list[int]:
    found = list(position)
    found[a], found[b] = found[b], found[a]
    return found


def ssbr_greedy(situation: Situation, position: list[int]) -> list[tuple[list[int], float]]:
    """Algorithm 3; its second minimum is updated in the loop, as is obviously meant."""
    now = judge(situation, position)
    path = [(list(position), now.cost)]
    while True:
        worst = int(np.argmax(now.by_broker))  # the smallest id of the worst
        others = [b for b in range(len(position)) if b != worst]
        tried = [judge(situation, swapped(position, worst, b)).cost for b in others]
        if not tried or min(tried) >= now.cost:
            return path
        best = others[tried.index(min(tried))]  # the smallest id of the best
        position = swapped(position, worst, best)
        now = judge(situation, position)
        path.append((position, now.cost))
