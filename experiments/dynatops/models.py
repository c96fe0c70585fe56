"""Which computations figures 5 to 9 take: the two models of section 6.1, placement by placement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from testbed.reproduction.collect import Groups
from testbed.reproduction.point import Label, Point, computed
from testbed.reproduction.study import Ask, Scale

DECISIONS = tuple(
    f"broker_grpc.protocols.dynatops.{name}"
    for name in ("delays", "greedy", "planning", "relays", "routes", "situation")
)
RINGS = tuple(
    f"broker_grpc.protocols.ring.{name}"
    for name in ("chord", "converged", "geometry", "identifiers", "next_hops", "prefix", "tapestry")
)
LINKS = tuple(
    f"broker_grpc.protocols.topicconnected.{name}"
    for name in ("components", "counting", "lowedges", "overlay", "repair")
)
SOURCES = (
    *DECISIONS, *RINGS, "testbed.flow.dynatops", "testbed.workload.checkins",
    "testbed.workload.topic_changes", "experiments.dynatops.rings", "experiments.dynatops.rows",
)  # fmt: skip
POISSON_SOURCES = (*SOURCES, *LINKS)
LOCATION_SOURCES = (*SOURCES, "experiments.dynatops.geography")

STATIC = ("bayeux-2", "bayeux-4", "bayeux-16", "chash")
RECONFIGURED = ("bnr", "bnr-prefix")
SIMILAR = ("up", "up-prefix", "dynatops", "dynatops-prefix")
STATIC_HERE = ("bayeux-2(static)", "bayeux-4(static)", "bayeux-16(static)", "chash(static)", "bnr(static)")
BY_PLACE = (
    "bayeux-2(loc)", "bayeux-4(loc)", "bayeux-16(loc)", "bayeux-2(loc+pns)", "bayeux-4(loc+pns)",
    "bayeux-16(loc+pns)", "chash(loc)", "bnr(loc)",
)  # fmt: skip

POISSON: dict[str, Any] = {
    "pattern": "modes", "exponent": 1.0, "rate": 0.1, "cluster": 5, "load": 0.5, "update": 1, "period": 10,
    "delay_weight": 1.0, "stopping": "first_worst", "count_root": False, "with_user": True,
    "share_of_all": False, "rounds": 100, "rates": "equal", "events": 1.0, "renew": True,
}  # fmt: skip
LOCATION: dict[str, Any] = {
    "each": 4, "events": 1.0, "cluster": 10, "load": 0.5, "update": 24, "period": 168, "slot": 24,
    "delay_weight": 1.0, "stopping": "first_worst", "count_root": False, "with_user": True,
    "share_of_all": False,
}  # fmt: skip


@dataclass(frozen=True)
class Instance:
    """What of the two models is computed."""

    users: int = 50_000
    brokers: int = 100
    topics: int = 1_000
    modes: int = 100
    hours: int = 100
    rates: tuple[float, ...] = (0.0125, 0.025, 0.05, 0.1, 0.2)
    periods: tuple[int, ...] = (5, 20, 50)  # T_free in hours, beside the default
    visitors: int = 40_000
    rows: int = 20
    columns: int = 60
    days: int = 92
    square: int = 32  # cells of an edge of GeoPS
    clusters: tuple[int, ...] = (2, 5, 20, 50)  # beside the default
    long_periods: tuple[int, ...] = (72, 336, 672)
    load_clusters: tuple[int, ...] = (2, 10, 50)
    loads: tuple[float, ...] = (0.0, 0.1, 1.0)


SMOKE = Instance(
    users=300, brokers=20, topics=60, modes=6, hours=20, rates=(0.025, 0.1, 0.2), periods=(5,), visitors=300,
    rows=4, columns=10, days=10, square=8, clusters=(2, 20), long_periods=(72,), load_clusters=(2, 10),
    loads=(0.0,),
)  # fmt: skip
SCALES = {"smoke": Scale(SMOKE, seeds=2), "full": Scale(Instance(), seeds=5)}


# ---------------------------------------------------------------- points


def poisson_point(size: Instance, name: str, systems: tuple[str, ...], seed: int, **varied: Any) -> Point:
    chosen = {**POISSON, **varied}
    arguments = {
        "systems": list(systems), "users": size.users, "brokers": size.brokers, "topics": size.topics,
        "modes": size.modes, "hours": size.hours, **chosen,
    }  # fmt: skip
    labels: dict[str, Label] = {
        "model": "poisson", "part": name, "pattern": chosen["pattern"], "rate": chosen["rate"],
        "period": chosen["period"], "seed": seed,
    }  # fmt: skip
    id_ = f"{name}-{chosen['pattern']}-{chosen['rate']}-{chosen['period']}h-seed{seed}"
    set_ = "connected" if name == "tco" else "poisson"
    title = f"Poisson model, {name}, {chosen['pattern']}, rate {chosen['rate']}, seed {seed}"
    return computed(
        set_, id_, "experiments.dynatops.poisson:poisson", arguments, seed, labels, POISSON_SOURCES, title
    )  # fmt: skip


def location_point(
    size: Instance, name: str, systems: tuple[str, ...], seed: int, set_: str = "location", **varied: Any
) -> Point:  # fmt: skip
    chosen = {**LOCATION, **varied}
    arguments = {
        "systems": list(systems), "users": size.visitors, "rows": size.rows, "columns": size.columns,
        "days": size.days, "square": size.square, **chosen,
    }  # fmt: skip
    labels: dict[str, Label] = {
        "model": "location", "part": name, "cluster": chosen["cluster"], "load": chosen["load"],
        "period": chosen["period"], "seed": seed,
    }  # fmt: skip
    id_ = f"{name}-c{chosen['cluster']}-w{chosen['load']}-{chosen['period']}h-seed{seed}"
    return computed(
        set_, id_, "experiments.dynatops.location:location", arguments, seed, labels, LOCATION_SOURCES,
        f"location model, {name}, c = {chosen['cluster']}, seed {seed}",
    )  # fmt: skip


def visits_point(size: Instance, seed: int) -> Point:
    arguments = {"users": size.visitors, "rows": size.rows, "columns": size.columns, "days": size.days}
    labels: dict[str, Label] = {"model": "visits", "seed": seed}
    return computed(
        "location", f"visits-seed{seed}", "experiments.dynatops.location:observed", arguments, seed, labels,
        LOCATION_SOURCES, f"visits, seed {seed}",
    )  # fmt: skip


def at_a_rate(size: Instance, seed: int, **varied: Any) -> Iterator[Point]:
    """All systems but the topic-connected one on the Poisson model."""
    yield poisson_point(size, "static", STATIC + RECONFIGURED, seed, **varied)
    yield poisson_point(size, "similar", SIMILAR, seed, **varied)


def points(ask: Ask[Instance]) -> Groups:
    """Groups are what is compared. The topic-connected overlay takes longest and comes last."""
    size = ask.size
    found: dict[str, list[Point]] = {}
    for seed in ask.seeds:
        for group, made in of_seed(size, seed).items():
            found.setdefault(group, []).extend(made)
    return found


def of_seed(size: Instance, seed: int) -> dict[str, list[Point]]:
    others = [{"pattern": pattern} for pattern in ("uniform", "zipf")]
    found = {
        **{f"rate {rate}": list(at_a_rate(size, seed, rate=rate)) for rate in size.rates},
        **{f"pattern {one['pattern']}": list(at_a_rate(size, seed, **one)) for one in others},
        "periods": [
            poisson_point(size, "similar", ("up", "dynatops"), seed, rate=0.025, period=period)
            for period in size.periods
        ],
        "visits": [visits_point(size, seed)],
        "location": [
            location_point(size, "static", STATIC_HERE, seed),
            location_point(size, "loc", BY_PLACE, seed),
            location_point(size, "cells", ("geops",), seed),
            location_point(size, "similar", SIMILAR, seed),
        ],
    }  # fmt: skip
    tco = [{"rate": rate} for rate in size.rates] + others
    found["connected"] = [poisson_point(size, "tco", ("tco",), seed, **one) for one in tco]
    return found | further(size, seed)


def further(size: Instance, seed: int) -> dict[str, list[Point]]:
    """The location model with other clusters, periods and loads."""
    set_ = "location-varied"
    return {
        "clusters": [
            location_point(size, "similar", ("up", "dynatops"), seed, set_, cluster=cluster)
            for cluster in size.clusters
        ],
        "long periods": [
            location_point(size, "similar", ("dynatops",), seed, set_, period=period)
            for period in size.long_periods
        ],
        "loads": [
            location_point(size, "placed", ("up",), seed, set_, cluster=cluster, load=load)
            for cluster in size.load_clusters
            for load in size.loads
        ],
    }  # fmt: skip
