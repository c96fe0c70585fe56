"""The window of ids that are known again."""

from __future__ import annotations

from broker_grpc.core.seen import SeenIds


def test_an_id_is_new_once() -> None:
    seen = SeenIds(10)
    assert [seen.is_new(id_) for id_ in ("a", "b", "a", "b", "c")] == [True, True, False, False, True]


def test_the_oldest_is_forgotten_first() -> None:
    seen = SeenIds(2)
    for id_ in ("a", "b", "c"):
        assert seen.is_new(id_)
    assert len(seen) == 2
    assert not seen.is_new("b")
    assert not seen.is_new("c")
    assert seen.is_new("a"), "forgotten, so it is new again"


def test_to_be_seen_again_makes_no_id_younger() -> None:
    seen = SeenIds(2)
    for id_ in ("a", "b", "a", "c"):
        seen.is_new(id_)
    assert seen.is_new("a")
