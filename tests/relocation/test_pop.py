"""POP by the sentence (section 3)."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.protocols.relocation.pop import Pop
from broker_grpc.protocols.relocation.profile import LOCAL, PublisherProfileTable, closest_neighbour
from broker_grpc.protocols.relocation.settings import PopSettings
from broker_grpc.protocols.relocation.tagging import Tagger
from protos.body import Envelope
from protos.client_messages import Publication
from protos.relocation_messages import RelocationAnswer, RelocationRequest, TraceResult
from tests.relocation.scene import FIGURE_1, Scene

YHOO = "[class,eq,'STOCK'],[symbol,eq,'YHOO']"
QUOTE = {"class": "STOCK", "symbol": "YHOO"}
# Subscribers so that B1's table is the stated one: B5 = 15, B2 = 6, B4 = 3, local 1; all 15 right of B5.
SUBSCRIBERS = {"B1": 1, "B2": 2, "B3": 4, "B4": 3, "B6": 7, "B7": 5, "B8": 3}


def figure_1(threshold: int = 3) -> Scene:
    scene = Scene(FIGURE_1, layer=lambda: Pop(PopSettings(threshold=threshold)))
    for broker, count in SUBSCRIBERS.items():
        for i in range(count):
            scene.subscriber(f"{broker}s{i}", broker, YHOO)
    scene.publisher("P", "B1", YHOO)
    return scene


# ---------------------------------------------------------------- 3.1


def test_at_most_n_publications_are_tagged_per_window() -> None:
    """(1) the number of publications traced within W is bounded by N"""
    tagger, random = Tagger(50, 60_000_000), Random(1)
    assert sum(tagger.tag(1000 * i, random) for i in range(50_000)) <= 50


def test_a_low_rated_publisher_is_always_tagged() -> None:
    """(2) at least one publication is tagged with 100% probability in each window"""
    tagger, random = Tagger(50, 60_000_000), Random(1)
    assert all(tagger.tag(61_000_000 * i, random) for i in range(100))


@given(st.integers(1, 60), st.integers(1, 40))
def test_the_probability_is_one_minus_t_over_n(n: int, tagged: int) -> None:
    tagger = Tagger(n, 60_000_000)
    tagger.probability(0)
    tagger.tagged = min(tagged, n)
    assert tagger.probability(1) == 1 - min(tagged, n) / n


def test_the_running_average_weighs_the_newest_a_quarter() -> None:
    table = PublisherProfileTable(0.25)
    table.record({"B2": 8})
    table.record({"B2": 4})
    assert table.average["B2"] == 0.25 * 4 + 0.75 * 8


def test_a_link_without_subscribers_for_a_publication_counts_as_zero() -> None:
    table = PublisherProfileTable(0.25)
    table.record({"B2": 8, LOCAL: 1})
    table.record({LOCAL: 1})
    assert table.average == {"B2": 6.0, LOCAL: 1.0}


def test_the_tables_after_one_trace_are_those_of_figure_1() -> None:
    """B1: B5 = 15, B2 = 6, B4 = 3, one subscriber of its own."""
    scene = figure_1()
    scene.publish("P", **QUOTE)
    scene.net.settle()
    table = scene.layers["B1"]._tables[scene.advertisement("P")]  # type: ignore[attr-defined]
    assert table.average == {"B5": 15.0, "B2": 6.0, "B4": 3.0, LOCAL: 1.0}


def test_one_trace_result_per_broker_that_got_the_publication_but_the_first() -> None:
    """3.1: aggregated upstream, sent when only subscribers got it or every neighbour has answered."""
    scene = figure_1()
    sent: list[tuple[str, str, int]] = []

    def watch(source: str, target: str, envelope: Envelope) -> None:
        if isinstance(envelope.body, TraceResult):
            sent.append((source, target, envelope.body.subscribers))

    scene.net.on_send = watch
    scene.publish("P", **QUOTE)
    scene.net.settle()
    assert sorted(sent) == [
        ("B2", "B1", 6), ("B3", "B2", 4), ("B4", "B1", 3), ("B5", "B1", 15),
        ("B6", "B5", 15), ("B7", "B6", 5), ("B8", "B6", 3),
    ]  # fmt: skip


def test_the_trace_field_reaches_every_broker_and_nothing_else_changes() -> None:
    scene = figure_1()
    seen: list[Publication] = []

    def watch(source: str, target: str, envelope: Envelope) -> None:
        if isinstance(envelope.body, Publication) and {source, target} <= scene.layers.keys():
            seen.append(envelope.body)

    scene.net.on_send = watch
    scene.publish("P", **QUOTE)
    scene.net.settle()
    assert len(seen) == 7
    assert all(p.trace is not None and p.trace.counted and p.attributes == QUOTE for p in seen)


# ---------------------------------------------------------------- 3.2


def test_the_closest_neighbour_has_more_than_all_others_together() -> None:
    assert closest_neighbour({"B5": 15, "B2": 6, "B4": 3}, 1) == "B5"
    assert closest_neighbour({"B5": 10, "B2": 6, "B4": 3}, 1) is None  # equal is not greater


@given(st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 100), max_size=6), st.floats(0, 100))
def test_closest_neighbour_against_the_definition(rows: dict[str, float], local: float) -> None:
    chosen = closest_neighbour(rows, local)
    winners = [n for n in rows if rows[n] > sum(v for m, v in rows.items() if m != n) + local + 1e-9]
    if winners:
        assert chosen == winners[0]


def test_the_requests_and_the_answer_of_the_worked_example() -> None:
    """3.2: B1 forwards 10 to B5 with [B1]; B5 forwards to B6 with [B5, B1]; B6 answers [B6, B5, B1].

    The text has B6 find 15 subscribers on the link to B5, but those are the ones on its own side; the
    rule gives 10, and so do 3.3's "10 subscribers that reside on the left of B5".
    """
    scene = figure_1(threshold=1)
    requests: list[tuple[str, str, float, tuple[str, ...]]] = []
    answers: list[tuple[str, str, tuple[str, ...]]] = []

    def watch(source: str, target: str, envelope: Envelope) -> None:
        body = envelope.body
        if isinstance(body, RelocationRequest):
            requests.append((source, target, body.subscribers, body.brokers))
        elif isinstance(body, RelocationAnswer):
            answers.append((source, target, body.brokers))

    scene.net.on_send = watch
    scene.publish("P", **QUOTE)
    scene.net.settle()
    assert requests == [("B1", "B5", 10.0, ("B1",)), ("B5", "B6", 10.0, ("B5", "B1"))]
    assert answers == [("B6", "B5", ("B6", "B5", "B1")), ("B5", "B1", ("B6", "B5", "B1"))]
    assert scene.net.peers_of("P") == ["B6"]


def test_phase_2_waits_for_the_threshold() -> None:
    scene = figure_1(threshold=3)
    for _ in range(2):
        scene.publish("P", **QUOTE)
        scene.net.settle()
    assert scene.net.events("SELECTED") == []
    for _ in range(3):
        scene.publish("P", **QUOTE)
        scene.net.settle()
    assert [e.peer for e in scene.net.events("SELECTED")] == ["B6"]


def test_phase_2_waits_for_outstanding_results() -> None:
    scene = figure_1(threshold=2)
    scene.publish("P", **QUOTE)
    scene.publish("P", **QUOTE)
    scene.publish("P", **QUOTE)
    while scene.net.step():
        selected = scene.net.events("SELECTED")
        pending = sum(len(layer._pending) for layer in scene.layers.values())  # type: ignore[attr-defined]
        if selected:
            break
        if pending == 0:
            continue
    assert len(scene.net.events("SELECTED")) == 1


def test_a_publisher_at_the_closest_broker_stays_and_is_traced_again() -> None:
    """3.2: phase 3 is aborted and phase 1 initiated again after P_threshold new results."""
    scene = figure_1(threshold=2)
    for _ in range(12):
        scene.publish("P", **QUOTE)
        scene.net.settle()
    targets = [e.peer for e in scene.net.events("SELECTED")]
    assert targets[0] == "B6"
    assert set(targets[1:]) == {"B6"}
    assert len(targets) >= 2
    assert len(scene.net.events("MIGRATED")) == 1


def test_a_migration_clears_the_profile_tables_on_its_path() -> None:
    scene = figure_1(threshold=1)
    scene.publish("P", **QUOTE)
    scene.net.settle()
    for broker in ("B1", "B5", "B6"):
        assert scene.layers[broker]._tables == {}  # type: ignore[attr-defined]


def test_no_publication_is_lost_while_pop_moves_publishers() -> None:
    scene = figure_1(threshold=2)
    random = Random(3)
    for _ in range(60):
        scene.publish("P", **QUOTE)
        for _ in range(random.randrange(12)):
            scene.net.step()
    scene.net.settle()
    scene.check_deliveries()


def test_a_lost_neighbour_does_not_stop_tracing() -> None:
    scene = figure_1(threshold=2)
    scene.publish("P", **QUOTE)
    for _ in range(6):
        scene.net.step()
    scene.net.crash("B5")
    scene.net.settle()
    for _ in range(6):
        scene.publish("P", **QUOTE)
        scene.net.settle()
    assert scene.net.events("SELECTED")


def test_trace_state_does_not_pile_up() -> None:
    scene = figure_1(threshold=5)
    for _ in range(200):
        scene.publish("P", **QUOTE)
        scene.net.settle()
        scene.net.now_us += 2_000_000
    assert all(not layer._pending for layer in scene.layers.values())  # type: ignore[attr-defined]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 100_000))
def test_pop_ends_where_no_neighbour_outweighs_the_rest(seed: int) -> None:
    """3.2's condition, on random trees with subscribers that get everything."""
    random = Random(seed)
    size = random.randint(2, 9)
    links = [(f"B{random.randrange(i)}", f"B{i}") for i in range(1, size)]
    scene = Scene(links, layer=lambda: Pop(PopSettings(threshold=1, traced_per_window=1000)), seed=seed)
    where: Counter[str] = Counter()
    for i in range(random.randint(1, 8)):
        broker = f"B{random.randrange(size)}"
        where[broker] += 1
        scene.subscriber(f"s{i}", broker, YHOO)
    scene.publisher("P", f"B{random.randrange(size)}", YHOO)
    for _ in range(4):
        scene.publish("P", **QUOTE)
        scene.net.settle()
    (at,) = scene.net.peers_of("P")
    near = [b for a, b in links if a == at] + [a for a, b in links if b == at]
    total = sum(where.values())
    for neighbour in near:
        beyond = sum(where[b] for b in scene.layers if neighbour in scene.path(at, b))
        assert beyond <= total - beyond
    scene.check_deliveries()


@pytest.mark.parametrize("bad", [{"threshold": 0}, {"newest_weight": 2.0}, {"nonsense": 1}])
def test_bad_settings_are_refused_by_name(bad: dict[str, float]) -> None:
    from broker_grpc.errors import BrokerError
    from broker_grpc.registry import registry

    with pytest.raises(BrokerError, match="pop"):
        registry().settings({"name": "pop", **bad})
