"""Who should have received what: subscriptions with the time during which they count, and their filters.

Filters are tried one by one with the language's own meaning of a predicate, never with the brokers' index:
the check must not share the mistake it looks for. To stay cheap, subscriptions are looked up by one of their
equality predicates first, the rarest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from broker_grpc.content.filters import Filter
from broker_grpc.content.language import reread_filter
from broker_grpc.errors import BrokerError
from protos.content_messages import Value
from testbed.analysis.evidence.absences import FOREVER
from testbed.analysis.evidence.fault_course import FaultCourse


@dataclass(frozen=True)
class Interest:
    """One subscription of one client."""

    client: str
    filter: str
    from_us: int  # acknowledged
    settled_us: int  # known everywhere it matters; FOREVER = never
    until_us: int = FOREVER  # unsubscribed or disconnected
    group: str = ""


class Interests:
    """All subscriptions of a run, to be asked which of them a publication's content satisfies."""

    def __init__(self, interests: Iterable[Interest]) -> None:
        self.unreadable = 0
        self._by_pair: dict[tuple[str, Value], list[tuple[Interest, Filter]]] = {}
        self._others: list[tuple[Interest, Filter]] = []
        parsed = [(interest, found) for interest in interests if (found := self._parse(interest.filter))]
        frequency = Counter(pair for _, found in parsed for pair in found.equalities)
        for interest, found in parsed:
            pairs = sorted(found.equalities, key=lambda pair: (frequency[pair], str(pair)))
            home = self._by_pair.setdefault(pairs[0], []) if pairs else self._others
            home.append((interest, found))

    def _parse(self, text: str) -> Filter | None:
        try:
            return reread_filter(text)
        except BrokerError:
            self.unreadable += 1
            return None

    @staticmethod
    @lru_cache(maxsize=64)
    def of(interests: tuple[Interest, ...]) -> Interests:
        """The same, made once: a worker has tasks with publications of many runs, and of each run many."""
        return Interests(interests)

    def matching(self, attributes: Mapping[str, Value]) -> list[Interest]:
        candidates = [entry for pair in attributes.items() for entry in self._by_pair.get(pair, ())]
        return [interest for interest, found in [*candidates, *self._others] if found.matches(attributes)]


@dataclass(frozen=True)
class Timeline:
    """When deliveries can be demanded in one run."""

    interests: tuple[Interest, ...] = ()
    disturbed: tuple[tuple[int, int], ...] = ()  # faults, from their start until all was well again
    ended_us: int = FOREVER
    flight_us: int = 0  # a publication is under way for at most this long
    interrupted: dict[str, tuple[tuple[int, int], ...]] = field(
        default_factory=dict
    )  # client -> times without broker, and until what it asked for again can be known everywhere
    drained: bool = False  # nothing was under way any more when the run ended
    course: FaultCourse = field(default_factory=FaultCourse)

    def decided(self, published_us: int) -> bool:
        """It cannot have been under way any more when the run ended."""
        return (published_us if self.drained else published_us + self.flight_us) < self.ended_us

    def lasting(self, interest: Interest, published_us: int) -> bool:
        """The interest is known everywhere (by a gate, or it is older than a flight) and goes on."""
        known = min(interest.settled_us, interest.from_us + self.flight_us)
        return known <= published_us and published_us + self.flight_us < interest.until_us

    def quiet(self, subscriber: str, published_us: int, publisher: str = "") -> bool:
        """Nothing excuses the loss of a publication to this client."""
        if not self.decided(published_us):
            return False
        last = published_us + self.flight_us
        spans = (*self.disturbed, *self.interrupted.get(subscriber, ()), *self.interrupted.get(publisher, ()))
        return not any(start <= last and published_us <= end for start, end in spans)
