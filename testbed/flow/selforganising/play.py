"""Plays brokers that exchange links by a heuristic, or by none, in zero time.

Brokers act in the order of the simulator: the end of an interval removes who was not heard, then the
broadcast goes out ring by ring; every broker that it reaches hears, then evaluates; requests arrive in the
order in which they were sent. While an exchange is under way, the other requests to the same broker are
refused.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy

from broker_grpc.protocols.selforganising.consensus import cheapest
from broker_grpc.protocols.selforganising.heuristics import Heuristic, Place, Sight
from broker_grpc.protocols.selforganising.neighbourhood import Neighbourhood
from testbed.errors import InputError
from testbed.flow.ledger import Ledger, Notifications
from testbed.flow.selforganising.exchanges import Hops, exchange_hops
from testbed.flow.selforganising.windows import Windows
from testbed.flow.traffic import Traffic
from testbed.flow.tree import Edge, Floats, Prices, Tree

INTEREST, REQUEST, EXCHANGE = "interest", "request", "exchange"  # purposes of the ledger
JOINS, COSTS, SAMPLE, BROADCAST = range(4)  # of what happens in one instant, in this order


class Costs(NamedTuple):
    links: list[list[float]]
    processing: list[float]


class Exchanged(NamedTuple):
    at_us: int
    add: Edge
    remove: Edge


@dataclass(frozen=True)
class Setup:
    """Everything but the heuristic."""

    traffic: Traffic
    edges: Sequence[Edge]
    costs: Costs
    changes: Sequence[tuple[int, Costs]] = ()  # (instant, costs from then on)
    phases_us: Sequence[int] = ()
    interval_us: int = 2_500_000
    eta: int = 4
    cache: int = 8192
    sample_us: int = 10_000_000
    counts_itself: bool = True
    start_us: int = 0  # no broadcast before


@dataclass
class Outcome:
    ledger: Ledger
    edges: set[Edge]
    exchanges: list[Exchanged]
    requests: dict[str, int]  # how many ended in which way


class Play:
    """One run. `heuristic` None: the tree stays as it is, and nobody says anything about it."""

    def __init__(self, setup: Setup, heuristic: Heuristic | None, windows: Windows | None = None) -> None:
        self.setup = setup
        n = setup.traffic.brokers
        self.tree = Tree(n, setup.edges)
        self.ledger = Ledger()
        self.exchanges: list[Exchanged] = []
        self.requests = dict.fromkeys(("proposed", "unknown", "kept", "refused", "exchanged"), 0)
        self.known: list[Neighbourhood[int]] = [Neighbourhood(setup.counts_itself) for _ in range(n)]
        self._heuristic = heuristic
        self._notifications = Notifications(setup.traffic.flows, n, self.ledger)
        self._take(setup.costs)
        if heuristic is not None:
            self._windows = windows or Windows(setup.traffic, setup.phases_us, setup.interval_us)
            if 2 * self._windows.most > setup.cache:
                raise InputError(
                    f"flow counts whole intervals, and {self._windows.most} notifications in one of them may "
                    f"not be in a cache of {setup.cache}",
                    hint="a larger cache, or the simulator",
                )

    def run(self) -> Outcome:
        for at_us, kind, what in self._happenings():
            if kind == BROADCAST:
                self._broadcast(at_us, *what)
                continue
            self._notifications.until(at_us)
            if kind == JOINS:
                self._change(*what)
            elif kind == COSTS:
                self._take(self.setup.changes[what[0]][1])
            else:
                self.ledger.close(at_us)
        return Outcome(self.ledger, self.tree.edges(), self.exchanges, self.requests)

    # ------------------------------------------------------------ what happens when

    def _happenings(self) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        setup, end = self.setup, self.setup.traffic.end_us
        samples = ((at, SAMPLE, ()) for at in range(setup.sample_us, end + 1, setup.sample_us))
        changes = ((at, COSTS, (k,)) for k, (at, _) in enumerate(setup.changes))
        return heapq.merge(sorted(self._joins()), changes, samples, self._broadcasts())

    def _joins(self) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        end = self.setup.traffic.end_us
        for f, flow in enumerate(self.setup.traffic.flows):
            for stay in flow.stays:
                yield stay.begin_us, JOINS, (f, stay.broker, 1)
                if stay.end_us < end:
                    yield stay.end_us, JOINS, (f, stay.broker, -1)

    def _broadcasts(self) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        if self._heuristic is None or not self.setup.eta:
            return
        interval, start, end = self.setup.interval_us, self.setup.start_us, self.setup.traffic.end_us
        order = sorted((phase, j) for j, phase in enumerate(self.setup.phases_us))
        for n in range(end // interval + 1):
            for phase, j in order:
                if start <= phase + n * interval < end:
                    yield phase + n * interval, BROADCAST, (j, n)

    def _change(self, flow: int, broker: int, by: int) -> None:
        self._notifications.change(flow, broker, by)
        self._notifications.reprice_flow(flow)

    def _take(self, costs: Costs) -> None:
        self._links, self._processing = costs
        self._arrays: tuple[Floats, Floats] = numpy.array(costs.links), numpy.array(costs.processing)
        self._hop: list[list[float]] = (self._arrays[0] + self._arrays[1]).tolist()
        self._reprice()

    def _reprice(self) -> None:
        self._notifications.reprice(Prices(self.tree, *self._arrays))

    # ------------------------------------------------------------ the heuristic

    def _broadcast(self, at_us: int, origin: int, number: int) -> None:
        common = self._windows.common(origin, number)
        known = self.known[origin]
        known.own = common[origin]
        known.age()
        order, came = self.tree.reached(origin, self.setup.eta)
        self._pay(INTEREST, [(came[i], i) for i in order])
        for i in order:
            self.known[i].heard(origin, common[i])
        proposals = self._evaluate(origin, order, came)
        for done, path in enumerate(proposals):
            if self._request(at_us, path):
                for late in proposals[done + 1 :]:
                    self._refuse(late)
                return

    def _evaluate(self, origin: int, order: Sequence[int], came: dict[int, int]) -> list[list[int]]:
        """The paths to the origin of all who propose a link to it."""
        links, processing, known = self._links, self._processing, self.known
        assert self._heuristic is not None
        proposes, proposals = self._heuristic.proposes, []
        paths = {origin: [origin]}
        costs: dict[int, list[float]] = {origin: []}
        passed: dict[int, list[float]] = {origin: []}
        along: dict[int, list[int]] = {origin: []}
        for i in order:
            before = came[i]
            shared = known[i].shared_with(paths[before])
            paths[i] = [i, *paths[before]]
            costs[i] = [links[i][before], *costs[before]]
            passed[i] = [processing[before], *passed[before]]
            along[i] = [known[i].of(before), *along[before]]
            if before == origin or shared is None:
                continue
            if proposes(Sight(links[i][origin], costs[i], passed[i], shared, along[i], known[i].phi)):
                proposals.append(paths[i])
        return proposals

    def _request(self, at_us: int, cycle: list[int]) -> bool:
        """Along the path to the other end of the proposed link; whether links are exchanged."""
        self.requests["proposed"] += 1
        costs = self._consensus(cycle)
        if costs is None:
            self.requests["unknown"] += 1
            return False
        removed = cheapest(costs)
        if removed == len(cycle) - 1:
            self.requests["kept"] += 1
            return False
        self._exchange(at_us, cycle, removed)
        return True

    def _consensus(self, cycle: list[int]) -> list[float] | None:
        """The vector when all have added theirs; None if one of them knows too little, and says no more."""
        known_by = self._asked(cycle)
        if known_by is None:
            return None
        assert self._heuristic is not None
        links = [self._links[a][b] for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
        processing = [self._processing[v] for v in cycle]
        total = [0.0] * len(cycle)
        for at, shared in enumerate(known_by):
            added = self._heuristic.judges(Place(at, links, processing, shared, self.known[cycle[at]].phi))
            total = [a + b for a, b in zip(total, added, strict=True)]
        return total

    def _asked(self, cycle: list[int]) -> list[list[int]] | None:
        """A request goes along the cycle: I of each of its brokers with all of them."""
        found = []
        for at, broker in enumerate(cycle):
            if at:
                self._pay(REQUEST, [(cycle[at - 1], broker)])
            others = self.known[broker].shared_with([*cycle[:at], *cycle[at + 1 :]])
            if others is None:
                return None
            found.append([*others[:at], 0, *others[at:]])
        return found

    def _refuse(self, cycle: list[int]) -> None:
        """It was on its way when the exchange began, and goes as far as brokers know enough."""
        self.requests["proposed"] += 1
        self.requests["unknown" if self._asked(cycle) is None else "refused"] += 1

    def _exchange(self, at_us: int, cycle: list[int], removed: int) -> None:
        self._notifications.until(at_us)
        self.requests["exchanged"] += 1
        self._pay(EXCHANGE, exchange_hops(cycle, removed))
        add, remove = (cycle[0], cycle[-1]), (cycle[removed], cycle[removed + 1])
        self.tree.exchange(add, remove)
        self.exchanges.append(Exchanged(at_us, add, remove))
        self._reprice()

    def _pay(self, purpose: str, hops: Hops) -> None:
        """Each message costs what its link and the broker that gets it cost."""
        hop = self._hop
        self.ledger.add(purpose, len(hops), sum([hop[a][b] for a, b in hops]))


def play(setup: Setup, heuristic: Heuristic | None, windows: Windows | None = None) -> Outcome:
    """`windows` hang on the traffic and the phases only: runs that share these may share them."""
    return Play(setup, heuristic, windows).run()
