"""What a log counts instead of telling it, and what it tells all the same."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from broker_grpc.core.counted import Counting, Tally
from protos.records import LogEvent

EVERY_US = 10_000
KINDS = ("SENT", "RECEIVED", "FORWARDED", "NOTIFIED", "PROCESSED", "DROPPED", "DELIVERED")
EVENTS = st.lists(
    st.builds(
        LogEvent,
        t_us=st.integers(1, 100_000),
        node=st.sampled_from(["B1", "B2", "c1"]),
        kind=st.sampled_from(KINDS),
        type=st.sampled_from(["publication", "heartbeat", "subscription"]),
        peer=st.sampled_from(["B1", "B2", "c1", "c2"]),
        message=st.sampled_from([f"p:{i}" for i in range(20)]),
        bytes=st.integers(0, 100),
        matching_us=st.integers(0, 9),
    ),
    max_size=60,
).map(lambda events: sorted(events, key=lambda event: event.t_us))


def tally(
    journeys: float = 0.0, types: tuple[str, ...] = ("publication", "heartbeat"), seed: int = 1
) -> Tally:
    return Tally(Counting(list(types), EVERY_US, ["B1", "B2"], journeys, seed))


def key(event: LogEvent, kind: str, link: str) -> tuple[str, str, str, str]:
    return event.node, kind, event.type, link


@given(EVENTS, st.sampled_from([0.0, 0.3, 1.0]))
def test_told_and_counted_together_are_all_messages(events: list[LogEvent], journeys: float) -> None:
    counted = tally(journeys)
    written = [*counted.kept(events), *counted.ended()]
    messages: Counter[tuple[str, str, str, str]] = Counter()
    sizes: Counter[tuple[str, str, str, str]] = Counter()
    for event in written:
        if event.kind == "COUNTED":
            messages[key(event, event.detail, event.group)] += event.count
            sizes[key(event, event.detail, event.group)] += event.bytes
        else:
            where = key(event, event.kind, "overlay" if event.peer in ("B1", "B2") else "client")
            messages[where] += 1
            sizes[where] += event.bytes
    expected: Counter[tuple[str, str, str, str]] = Counter()
    bytes_: Counter[tuple[str, str, str, str]] = Counter()
    for event in events:
        where = key(event, event.kind, "overlay" if event.peer in ("B1", "B2") else "client")
        expected[where] += 1
        bytes_[where] += event.bytes
    assert (messages, +sizes) == (expected, +bytes_)


@given(EVENTS)
def test_only_messages_of_brokers_of_these_types_are_counted(events: list[LogEvent]) -> None:
    told = tally().kept(events)
    always = [
        e for e in events if e.node == "c1" or e.type == "subscription" or e.kind in ("DROPPED", "DELIVERED")
    ]
    assert [e for e in told if e.kind != "COUNTED"] == always


@given(EVENTS)
def test_a_count_is_of_one_interval_and_stands_at_its_last_message(events: list[LogEvent]) -> None:
    counted = tally()
    written = [*counted.kept(events), *counted.ended()]
    times = {e.t_us for e in events}
    intervals = Counter(
        (e.node, e.detail, e.type, e.group, e.t_us // EVERY_US) for e in written if e.kind == "COUNTED"
    )
    assert set(intervals.values()) <= {1}
    assert all(e.t_us in times for e in written)
    assert [e.t_us // EVERY_US for e in written] == sorted(e.t_us // EVERY_US for e in written)


def test_a_share_of_the_publications_is_followed_the_same_by_every_log() -> None:
    ids = [f"pub{i % 7}:{i}" for i in range(10_000)]
    one, other, another_seed = (
        {id_ for id_ in ids if made.follows(id_)} for made in (tally(0.1), tally(0.1), tally(0.1, seed=2))
    )
    assert one == other != another_seed
    assert 900 < len(one) < 1100
    assert not any(tally(0.0).follows(id_) for id_ in ids)
    assert all(tally(1.0).follows(id_) for id_ in ids)
