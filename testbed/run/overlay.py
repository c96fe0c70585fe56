"""The overlay as it is now: the plan's, and what brokers have exchanged since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from testbed.topology.plan import OverlayLink

Pair = tuple[str, str]


class Overlay:
    """Changes may be told several times and in any order: the sum is the same."""

    def __init__(self, links: Iterable[OverlayLink]) -> None:
        self._planned = list(links)
        self._known: set[str] = set()
        self._given: Counter[frozenset[str]] = Counter()
        self._dials: dict[frozenset[str], OverlayLink] = {}
        self.links = self._planned

    def change(self, change: str, added: Pair, removed: Pair) -> None:
        if change in self._known:
            return
        self._known.add(change)
        self._given[frozenset(added)] += 1
        self._given[frozenset(removed)] -= 1
        self._dials[frozenset(added)] = OverlayLink(*added)
        planned = {frozenset((link.a, link.b)): link for link in self._planned}
        count = Counter(planned.keys())
        count.update(self._given)
        self.links = [(self._dials | planned)[ends] for ends in (*planned, *self._dials) if count[ends] > 0]
        self.links = list({frozenset((link.a, link.b)): link for link in self.links}.values())
