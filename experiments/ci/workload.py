"""Section 5's clients, trees and costs, drawn from a seed; what simulator and flow are told alike."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from broker_grpc.protocols.selforganising.intervals import phase_us
from experiments.ci.networks import distances, graph_of, independent, normalised
from testbed.flow.selforganising.play import Costs
from testbed.topology.file.schema.overlay import OverlaySpec
from testbed.topology.generators.uniform_tree import uniform_tree
from testbed.topology.plan import Client, PublicationPlan, SubscriptionPlan
from testbed.topology.resolve.overlay import generated
from testbed.topology.seeding import Draw, seed_for
from testbed.workload.topics import Popularity, topic_filter, topic_name

TICK_US = 10_000
PARTS = 3  # of a run: until t1, until t2, until its end
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
    new_loads: bool = False  # are these drawn again at t1 and t2?
    independent_links: bool = False  # in place of costs that follow the physical topology
    all_costs: bool = False  # do links and brokers change at t1, and at t2 again?

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
    links, brokers = Draw(seed, "places"), Draw(seed, "processing")

    def new_links() -> list[list[float]]:
        if setting.independent_links:
            return independent(setting.brokers, c_max, links)
        graph = graph_of(seed, setting.domains, setting.routers)
        return normalised(distances(graph, setting.brokers, links), c_max)

    def new_processing() -> list[float]:
        return [brokers.unit() * p_max for _ in range(setting.brokers)]

    made = [Costs(new_links(), new_processing())]
    for number in range(redrawn):
        last, of_brokers = made[-1], number % 2
        made.append(
            Costs(
                last.links if of_brokers and not setting.all_costs else new_links(),
                new_processing() if of_brokers or setting.all_costs else last.processing,
            )
        )
    return made


# ---------------------------------------------------------------- clients


def clients(setting: Setting, seed: int) -> list[Client]:
    """A publisher per type, and at each broker one client with all subscriptions that are ever made there."""
    draw = Draw(seed, "clients")
    loads = list(_loads(setting, seed, draw))
    names = ids(setting)
    made, held = [], {name: list[SubscriptionPlan]() for name in names}
    for type_ in range(setting.types):
        topic = topic_name(type_)
        plan = PublicationPlan("topic", {"topic": topic}, round(setting.publication * TICK_US), "poisson")
        seeded = seed_for(seed, "publisher", type_)
        broker = names[loads[0].draw(draw)]
        made.append(Client(f"p{type_}", broker, broker, publications=plan, seed=seeded))
        for at, begin, end in _stays(setting, loads, draw):
            held[names[at]].append(SubscriptionPlan(topic_filter(topic), "", begin, end))
    made += [
        Client(f"s{n}", name, name, subscriptions=held[name]) for n, name in enumerate(names) if held[name]
    ]
    return made


def _loads(setting: Setting, seed: int, draw: Draw) -> Iterator[Popularity]:
    """How probable each broker is for a new client: from the start, from t1 and from t2 on."""
    first = Popularity([1.0 if setting.equal_load else draw.unit() for _ in range(setting.brokers)])
    again = Draw(seed, "loads")
    for part in range(PARTS):
        drawn = [again.unit() for _ in range(setting.brokers)]
        yield Popularity(drawn) if part and setting.new_loads else first


def _stays(setting: Setting, loads: Sequence[Popularity], draw: Draw) -> Iterator[tuple[int, int, int]]:
    """(broker, begin, end) of one type's subscribers. One that leaves is replaced by one at a broker that has
    none of this type."""
    mean, end_us = setting.subscription * TICK_US, setting.end_us
    here: list[int] = []
    for _ in range(min(setting.subscribers, setting.brokers)):
        here.append(_other(loads[0], draw, here))
    leaving = [(round(draw.exponential(mean)) + 1, slot, 0) for slot in range(len(here))]
    heapq.heapify(leaving)
    while leaving:
        end, slot, begin = heapq.heappop(leaving)
        if end >= end_us:
            yield here[slot], begin, 0
            continue
        yield here[slot], begin, end
        if len(here) < setting.brokers:
            here[slot] = _other(loads[PARTS * end // end_us], draw, here)
        heapq.heappush(leaving, (end + round(draw.exponential(mean)) + 1, slot, end))


def _other(load: Popularity, draw: Draw, taken: list[int]) -> int:
    while (broker := load.draw(draw)) in taken:
        pass
    return broker
