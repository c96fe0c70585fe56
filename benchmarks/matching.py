"""Matching with the index against evaluating every filter, in one run; and a broker's time per publication.

python -m benchmarks.matching

10,000 subscriptions of five predicates each: the index must be at least 50 times faster than evaluating
them all, with 500 symbols (what an index is good at) and with a single one, where only the numeric bounds
tell the filters apart. Matching a topic is compared with a bare dictionary. Times are processor time.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

from broker_grpc.content.filters import Filter
from broker_grpc.content.index import FilterIndex
from broker_grpc.machine import Copies, PeerUp, Received
from broker_grpc.protocols.contentbased.broker import Broker
from protos.body import Envelope
from protos.client_messages import Advertisement, Publication, Subscription
from protos.content_messages import Operator, Predicate, Value

LIMIT = 50.0
FILTERS = 10_000
PUBLICATIONS = 200
TOPIC_LIMIT = 5.0  # times a bare dictionary look-up, both through one Python call
BROKER_LIMIT_US = 12.0  # the goal is 6 on an idle machine; this one is never idle


def five_predicates(rng: random.Random, symbols: int) -> tuple[Predicate, ...]:
    low = rng.uniform(0, 90)
    return (
        Predicate("class", Operator.EQ, "STOCK"),
        Predicate("symbol", Operator.EQ, f"S{rng.randrange(symbols)}"),
        Predicate("price", Operator.GT, low),
        Predicate("price", Operator.LT, low + rng.uniform(1, 30)),
        Predicate("volume", Operator.GT, rng.randrange(1_000_000)),
    )


def publication(rng: random.Random, symbols: int) -> dict[str, Value]:
    return {
        "class": "STOCK",
        "symbol": f"S{rng.randrange(symbols)}",
        "price": rng.uniform(0, 120),
        "volume": rng.randrange(1_000_000),
        "date": "5-Sep-96",
    }


def seconds(work: Callable[[], object], rounds: int) -> float:
    """The best of a few: what is measured is the code, not the neighbours."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def fill(index: FilterIndex, filters: list[Filter]) -> None:
    for i, filter_ in enumerate(filters):
        index.add(f"s{i}", filter_, f"h{i % 7}")


def compare(symbols: int) -> float:
    rng = random.Random(symbols)
    filters = [Filter.checked(five_predicates(rng, symbols)) for _ in range(FILTERS)]
    index = FilterIndex()
    building = seconds(lambda: fill(index, filters), 1)
    batch = [publication(rng, symbols) for _ in range(PUBLICATIONS)]
    for attributes in batch[:20]:  # the same answer, or the comparison means nothing
        assert set(index.match(attributes)) == {
            f"s{i}" for i, f in enumerate(filters) if f.matches(attributes)
        }
    few = batch[: max(1, PUBLICATIONS // 10)]
    all_of_them = seconds(lambda: [f.matches(a) for a in few for f in filters], 3) / len(few)
    indexed = seconds(lambda: [index.match_hops(a) for a in batch], 5) / len(batch)
    ratio = all_of_them / indexed
    print(
        f"matching, {FILTERS} filters of 5 predicates, {symbols} symbols: "
        f"all {all_of_them * 1e6:.0f} µs, index {indexed * 1e6:.1f} µs per publication, "
        f"{ratio:.0f} times faster; adding {building / FILTERS * 1e6:.1f} µs each"
    )
    return ratio


class Dictionary:
    """The least that a topic-based broker can do: one dictionary, one look-up, one set of subscribers."""

    def __init__(self) -> None:
        self.table: dict[Value, dict[str, int]] = {}

    def match_hops(self, attributes: dict[str, Value]) -> set[str]:
        hops = self.table.get(attributes.get("topic"))  # type: ignore[arg-type]
        return set() if hops is None else set(hops)


def topics() -> float:
    """A topic costs what a dictionary look-up costs, however many there are: times a bare dictionary."""
    few, many, bare = FilterIndex(), FilterIndex(), Dictionary()
    for index, count in ((few, 10), (many, 100_000)):
        for i in range(count):
            index.add(f"s{i}", Filter((Predicate("topic", Operator.EQ, f"t{i}"),)), "h")
    bare.table = {f"t{i}": {"h": 1} for i in range(100_000)}
    spread = random.Random(1)
    batch: list[dict[str, Value]] = [{"topic": f"t{i % 10}"} for i in range(2000)]
    wide: list[dict[str, Value]] = [{"topic": f"t{spread.randrange(100_000)}"} for _ in range(2000)]
    assert [many.match_hops(a) for a in wide] == [bare.match_hops(a) for a in wide]
    small = seconds(lambda: [few.match_hops(a) for a in batch], 9) / len(batch) * 1e6
    large = seconds(lambda: [many.match_hops(a) for a in wide], 9) / len(wide) * 1e6
    least = seconds(lambda: [bare.match_hops(a) for a in wide], 9) / len(wide) * 1e6
    print(
        f"topics: {small:.2f} µs with 10 of them, {large:.2f} µs with 100,000; "
        f"a bare dictionary of 100,000 {least:.2f} µs, ratio {large / least:.1f} (limit {TOPIC_LIMIT:g})"
    )
    return large / least


def broker_hop() -> float:
    """Microseconds of `Broker.handle` for a publication that is forwarded to one neighbour."""
    broker = Broker("B2")
    for name in ("B1", "B3", "B4"):
        broker.handle(0, PeerUp(name, "broker"))
    for s in range(100):
        stock = (Predicate("class", Operator.EQ, "STOCK"), Predicate("symbol", Operator.EQ, f"S{s}"))
        broker.handle(0, Received("B1", Envelope(Advertisement(f"a{s}", "P", stock), 1)))
        low = (*stock, Predicate("highLow%Diff", Operator.GT, 0.15))
        for k in range(20):
            broker.handle(0, Received("B3", Envelope(Subscription(f"s{s}.{k}", "S", low if k else stock), 1)))
    attributes: dict[str, Value] = {
        "class": "STOCK", "symbol": "S5", "open": 18.37, "high": 18.62, "low": 18.37, "close": 18.37,
        "volume": 6200, "date": "5-Sep-96", "openClose%Diff": 0.0, "highLow%Diff": 0.014,
        "closeEqualsLow": "true", "closeEqualsHigh": "false",
    }  # fmt: skip
    stimulus = Received("B1", Envelope(Publication("P:1", "P", "a5", 1_700_000_000_000_000, attributes), 1))
    rounds = 20_000
    copies = [effect for effect in broker.handle(1, stimulus) if isinstance(effect, Copies)]
    assert [copy.peers for copy in copies] == [["B3"]], "one copy, with its record"
    cost = seconds(lambda: [broker.handle(1, stimulus) for _ in range(rounds)], 5) / rounds * 1e6
    print(f"broker: {cost:.2f} µs per forwarded publication, its two log records included (goal 6)")
    return cost


def main() -> int:
    ratio = min(compare(500), compare(1))
    topic = topics()
    cost = broker_hop()
    return 0 if ratio >= LIMIT and cost <= BROKER_LIMIT_US and topic <= TOPIC_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
