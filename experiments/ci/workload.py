"""Section 5's clients, trees and costs, drawn from a seed; what simulator and flow are told alike."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Literal

from broker_grpc.protocols.selforganising.intervals import phase_us
from experiments.ci.networks import distances, graph_of, normalised
from testbed.flow.selforganising.play import Costs
from testbed.topology.file.schema.overlay import OverlaySpec
from testbed.topology.generators.uniform_tree import uniform_tree
from testbed.topology.plan import Client, PublicationPlan, SubscriptionPlan
from testbed.topology.resolve.overlay import generated
from testbed.topology.seeding import Draw, seed_for
from testbed.workload.topics import Popularity, topic_filter, topic_name

TICK_US = 10_000
Law = Literal["uniform", "recursive"]


@dataclass(frozen=True)
class Setting:
    """Defaults are the paper's. Times are in ticks."""

    domains: int = 100
    routers: int = 100
    brokers: int = 100
    types: int = 50
    subscribers: int = 9  # of a type, at different brokers
    ticks: int = 75_000
    publication: float = 5.0  # mean time between two of a publisher
    subscription: float = 2_500.0  # mean duration
    interval: int = 250
    sample: int = 1_000
    equal_load: bool = False  # of the brokers, in place of random load values

    @property
    def end_us(self) -> int:
        return self.ticks * TICK_US


def ids(setting: Setting) -> list[str]:
    return [f"B{n}" for n in range(1, setting.brokers + 1)]


def broker_seed(seed: int, broker: str) -> int:
    return seed_for(seed, "broker", broker)


def phases_us(setting: Setting, seed: int) -> list[int]:
    """As the machines draw them."""
    interval = setting.interval * TICK_US
    return [phase_us(Random(broker_seed(seed, broker)), interval) for broker in ids(setting)]


def tree(setting: Setting, law: Law, seed: int) -> list[tuple[int, int]]:
    """The static, randomly generated overlay network."""
    draw, names = Draw(seed, "overlay", law), ids(setting)
    if law == "uniform":
        return uniform_tree(setting.brokers, draw)
    numbers = {name: n for n, name in enumerate(names)}
    return [(numbers[a], numbers[b]) for a, b in generated("random", names, OverlaySpec(), draw)]


def costs(setting: Setting, seed: int, c_max: float, p_max: float, redrawn: int = 0) -> list[Costs]:
    """Of the start, and after each redrawing: first of the links (brokers at other places of the same graph),
    then of the brokers."""
    graph = graph_of(seed, setting.domains, setting.routers)
    links, brokers = Draw(seed, "places"), Draw(seed, "processing")

    def new_links() -> list[list[float]]:
        return normalised(distances(graph, setting.brokers, links), c_max)

    def new_processing() -> list[float]:
        return [brokers.unit() * p_max for _ in range(setting.brokers)]

    made = [Costs(new_links(), new_processing())]
    for number in range(redrawn):
        last = made[-1]
        made.append(last._replace(processing=new_processing()) if number % 2 else
                    last._replace(links=new_links()))  # fmt: skip
    return made


# ---------------------------------------------------------------- clients


def clients(setting: Setting, seed: int) -> list[Client]:
    """A publisher per type, and at each broker one client with all subscriptions that are ever made there."""
    draw = Draw(seed, "clients")
    load = Popularity([1.0 if setting.equal_load else draw.unit() for _ in range(setting.brokers)])
    names = ids(setting)
    made, held = [], {name: list[SubscriptionPlan]() for name in names}
    for type_ in range(setting.types):
        topic = topic_name(type_)
        plan = PublicationPlan("topic", {"topic": topic}, round(setting.publication * TICK_US), "poisson")
        seeded = seed_for(seed, "publisher", type_)
        broker = names[load.draw(draw)]
        made.append(Client(f"p{type_}", broker, broker, publications=plan, seed=seeded))
        for at, begin, end in _stays(setting, load, draw):
            held[names[at]].append(SubscriptionPlan(topic_filter(topic), "", begin, end))
    made += [
        Client(f"s{n}", name, name, subscriptions=held[name]) for n, name in enumerate(names) if held[name]
    ]
    return made


def _stays(setting: Setting, load: Popularity, draw: Draw) -> Iterator[tuple[int, int, int]]:
    """(broker, begin, end) of one type's subscribers. One that leaves is replaced by one at a broker that has
    none of this type."""
    mean, end_us = setting.subscription * TICK_US, setting.end_us
    here: list[int] = []
    for _ in range(min(setting.subscribers, setting.brokers)):
        here.append(_other(load, draw, here))
    leaving = [(round(draw.exponential(mean)) + 1, slot, 0) for slot in range(len(here))]
    heapq.heapify(leaving)
    while leaving:
        end, slot, begin = heapq.heappop(leaving)
        if end >= end_us:
            yield here[slot], begin, 0
            continue
        yield here[slot], begin, end
        if len(here) < setting.brokers:
            here[slot] = _other(load, draw, here)
        heapq.heappush(leaving, (end + round(draw.exponential(mean)) + 1, slot, end))


def _other(load: Popularity, draw: Draw, taken: list[int]) -> int:
    while (broker := load.draw(draw)) in taken:
        pass
    return broker
