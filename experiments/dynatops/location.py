"""Figures 5, 6 and 9: users who check in here and there and follow their friends (6.1.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas

from broker_grpc.protocols.dynatops.greedy import Stopping
from experiments.dynatops import geography
from experiments.dynatops.rings import ring
from experiments.dynatops.rows import rows_of
from testbed.flow.dynatops.cells import CellNetwork, grid
from testbed.flow.dynatops.hosting import Hosting
from testbed.flow.dynatops.network import Manager, Network
from testbed.flow.dynatops.playing import Course, by_visitors, play
from testbed.flow.dynatops.similar import Placement, clusters_of
from testbed.flow.dynatops.story import Floats, Ints, Story, of_visits
from testbed.topology.seeding import seed_for
from testbed.workload.checkins import Map, Mobility, Visits, friends, visits

Report = Callable[[str], None]
Tables = dict[str, pandas.DataFrame]
DAY = 24
# system: its placement, its ring, whether entries are the nearest, whether it has a manager
SYSTEMS: dict[str, tuple[str, str, bool, bool]] = {
    **{f"bayeux-{b}({p})": (p, f"tapestry-{b}", False, False) for b in (2, 4, 16) for p in ("static", "loc")},
    **{f"bayeux-{b}(loc+pns)": ("loc", f"tapestry-{b}", True, False) for b in (2, 4, 16)},
    "chash(static)": ("static", "chord", False, False),
    "chash(loc)": ("loc", "chord", False, False),
    "bnr(static)": ("static", "chord", False, True),
    "bnr(loc)": ("loc", "chord", False, True),
    "up": ("similar", "chord", False, False),
    "up-prefix": ("similar", "tapestry-16", False, False),
    "dynatops": ("similar", "chord", False, True),
    "dynatops-prefix": ("similar", "tapestry-16", False, True),
    "geops": ("cells", "", False, False),
}


def location(
    report: Report, systems: list[str], users: int, rows: int, columns: int, days: int, square: int,
    each: int, events: float, cluster: int, load: float, update: int, period: int, slot: int,
    delay_weight: float, stopping: Stopping, count_root: bool, with_user: bool, share_of_all: bool, seed: int,
) -> Tables:  # fmt: skip
    """All of one placement. `load`: w_l in units of the number of brokers whose loads are compared; `each`:
    friends of a user; `events`: of a visit; `square`: into how many cells GeoPS divides an edge.
    """
    area = Map(rows, columns)
    random = np.random.default_rng(seed_for(seed, "dynatops location", users, rows, columns, days))
    seen = visits(users, area, Mobility(days=float(days)), random)
    followed = friends(users, each, random)
    report(f"{seen.user.size} visits")
    kind = SYSTEMS[systems[0]][0]
    if any(SYSTEMS[name][0] != kind for name in systems):
        raise ValueError(f"{', '.join(systems)} have different placements")
    if kind == "cells":
        return _cells(seen, followed, area, square, Course(days * DAY, slot, slot), random)
    story = of_visits(seen, followed, area.cells)
    places = geography.places_of(area)
    link = geography.links(places, random)
    access = geography.accesses(places, random)
    manager = Manager(period, delay_weight, stopping, count_root)
    made = {name: _network(name, area.cells, seed, link, manager) for name in systems}
    report(", ".join(made))
    hosting = Hosting(story, area.cells)
    region = np.full(users, -1, np.int32)
    placement = None
    if kind == "similar":
        of = geography.clusters(area, cluster)
        shared = area.cells if share_of_all else cluster
        placement = Placement(clusters_of(of), load * shared, share_of_all, with_user)
    home = random.integers(area.cells, size=users).astype(np.int32)

    def serve(hosting: Hosting, chosen: slice) -> None:
        where = _regions(story, chosen, region)
        if placement is not None:
            placement.serve(hosting, story, chosen, placement.clusters.of[where])
        else:
            hosting.assigned(story, chosen, home[story.user[chosen]] if kind == "static" else where)

    course = Course(days * DAY, update if placement is not None else slot, slot)
    look = by_visitors(access, region, events)
    played = play(story, course, hosting, serve, look, list(made.values()), placement)
    return rows_of("location", made, played)


def _regions(story: Story, chosen: slice, region: Ints) -> Ints:
    """Where the user of each request is then: where it was last seen. `region` is brought up to date."""
    user, told = story.user[chosen], story.region[chosen]
    rows = np.arange(user.size)
    order = np.argsort(user, kind="stable")
    owner = user[order]
    begins = np.zeros(user.size, np.int64)
    fresh = np.flatnonzero(np.diff(owner, prepend=-1))
    begins[fresh] = fresh
    begins = np.maximum.accumulate(begins)
    last = np.maximum.accumulate(np.where(told[order] >= 0, rows, -1))
    found = np.empty(user.size, np.int32)
    found[order] = np.where(last >= begins, told[order][np.maximum(last, 0)], region[owner])
    region[user] = found  # of a user's requests the last one counts
    return found


def _network(name: str, brokers: int, seed: int, link: Floats, manager: Manager) -> Network:
    _, kind, near, managed = SYSTEMS[name]
    made = ring(kind, brokers, brokers, seed, link if near else None)
    return Network(made.overlay, made.position, link, manager if managed else None)


def _cells(
    seen: Visits, followed: Ints, area: Map, side: int, course: Course, random: np.random.Generator
) -> Tables:
    """GeoPS: its topics and brokers are the cells of its own grid."""
    story = of_visits(geography.squared(seen, area, side, random), followed, side * side)
    places = geography.square_places(area, side)
    overlay = grid(side, random)
    link, access = geography.links(places, random), geography.accesses(places, random)
    network = CellNetwork(overlay, np.arange(overlay.positions, dtype=np.int16), link)
    hosting = Hosting(story, overlay.positions)
    region = np.full(story.users, -1, np.int32)

    def serve(hosting: Hosting, chosen: slice) -> None:
        hosting.assigned(story, chosen, _regions(story, chosen, region))

    played = play(story, course, hosting, serve, by_visitors(access, region), [network])
    return rows_of("location", {"geops": network}, played)


def observed(report: Report, users: int, rows: int, columns: int, days: int, seed: int) -> Tables:
    """Figure 5: how often a user comes to a cell, and how long it stays."""
    area = Map(rows, columns)
    random = np.random.default_rng(seed_for(seed, "dynatops location", users, rows, columns, days))
    seen = visits(users, area, Mobility(days=float(days)), random)
    _, times = np.unique(seen.user.astype(np.int64) * area.cells + seen.cell, return_counts=True)
    linger = (seen.end - seen.begin)[np.isfinite(seen.end)]
    made: list[dict[str, Any]] = [{
        "visits": seen.user.size, "pairs": times.size, "once": float((times == 1).mean()),
        "within_a_day": float((linger < 1).mean()), "over_a_week": float((linger > 7).mean()),
    }]  # fmt: skip
    repeated = [{"curve": "repeat", "x": float(n), "share": float((times <= n).mean())} for n in range(1, 31)]
    stayed = [
        {"curve": "linger", "x": float(d), "share": float((linger <= d).mean())}
        for d in np.geomspace(0.02, 92, 40)
    ]
    return {"visits": pandas.DataFrame(made), "distributions": pandas.DataFrame([*repeated, *stayed])}
