"""Messages of trees that cannot be: refused with a record, and nothing else happens."""

from __future__ import annotations

import pytest

from protos.body import Body, Envelope
from protos.rendezvous_messages import (
    TreeAttach,
    TreeDetach,
    TreeHandover,
    TreeHeartbeat,
    TreeJoin,
    TreeLeave,
    TreePrune,
)
from tests.rendezvous.ground import Ground
from tests.rendezvous.test_trees import GROWN, NAMES, settings_of

FOUR = NAMES[:4]


def said(ground: Ground, source: str, target: str, body: Body, hops: int = 1) -> None:
    ground._send(source, target, Envelope(body, hops))
    ground.settle()


@pytest.mark.parametrize("grow", GROWN)
@pytest.mark.parametrize(
    "body",
    [
        TreeJoin(7, "news", "B02", 1),
        TreeJoin(0, "", "B02", 1),
        TreeJoin(0, "n" * 2000, "B02", 1),
        TreeJoin(0, "news", "", 1),
        TreeLeave(0, "news", "", 1),
        TreeAttach(9, "news", "B02", 1),
    ],
    ids=lambda body: f"{body.type}-{body.plane}-{len(body.topic)}-{body.member}",
)
def test_what_cannot_be_is_refused(grow: str, body: Body) -> None:
    ground = Ground(settings_of("chord", grow), FOUR)
    said(ground, "B02", "B01", body)
    refused = [event for event in ground.events("REFUSED") if event.node == "B01"]
    assert len(refused) == 1
    assert ground.topic("B01", "news") is None


def test_a_join_in_the_name_of_another_is_refused_on_reverse_paths() -> None:
    ground = Ground(settings_of("chord", "reverse_path"), FOUR)
    said(ground, "B02", "B01", TreeJoin(0, "news", "B03", 1))
    assert "in the name of" in ground.events("REFUSED")[0].detail


def test_a_message_that_went_too_far_is_refused() -> None:
    ground = Ground(settings_of("chord", "top_down"), FOUR)
    said(ground, "B02", "B01", TreeJoin(0, "news", "B02", 1), hops=200)
    assert "200 links" in ground.events("REFUSED")[0].detail


def test_a_flood_of_topics_ends_at_the_limit() -> None:
    ground = Ground(settings_of("chord", "reverse_path", max_topics=5), FOUR)
    for number in range(20):
        said(ground, "B02", "B01", TreeJoin(0, f"t{number}", "B02", 1))
    assert len(ground.at("B01").planes[0].trees.table) <= 5
    assert any("is in 5 trees" in event.detail for event in ground.events("REFUSED"))


def lies(source: str, target: str) -> list[Body]:
    beats: list[Body] = [TreeHeartbeat(0, ("news", "x"), up) for up in (True, False)]
    return [TreeHandover(0, "news", source), TreePrune(0, "news"), TreeDetach(0, "news", target), *beats]


@pytest.mark.parametrize("grow", GROWN)
def test_strangers_cannot_move_a_tree(grow: str) -> None:
    """Who is neither parent nor child says what parents and children say: the tree stays as it is."""
    ground = Ground(settings_of("chord", grow), NAMES)
    members = set(NAMES[::2])
    for name in sorted(members):
        ground.want(name, "news")
    ground.settle()
    before = ground.edges("news")
    for target in NAMES:
        topic = ground.topic(target, "news")
        if topic is None:
            continue
        near = {topic.parent, *topic.children, target}
        for source in [name for name in NAMES if name not in near and ground.is_up(name, target)][:2]:
            for body in lies(source, target):
                said(ground, source, target, body)
    assert ground.edges("news") == before
    ground.check("news", members)


def test_a_client_sends_no_message_of_trees() -> None:
    ground = Ground(settings_of("chord", "reverse_path"), FOUR)
    ground.say("c-B01", TreeJoin(0, "news", "c-B01", 1))
    ground.settle()
    assert "a client does not send a tree_join" in ground.events("REFUSED")[0].detail
