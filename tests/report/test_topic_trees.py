"""Pictures of topic trees and rings, from a few rows of their tables."""

from __future__ import annotations

import pandas
import pytest

from testbed.report.topic_trees import (
    levels,
    maintenance,
    relays,
    ring_of,
    ring_picture,
    tree_picture,
    trees_of,
)

SHAPES = pandas.DataFrame(
    [(0, "news", 10, "A"), (0, "news", 20, "R"), (0, "torn", 20, None)],
    columns=["plane", "topic", "time_s", "root"],
)
EDGES = pandas.DataFrame(
    [
        (0, "news", "R", "A", False),
        (0, "news", "A", "M", True),
        (0, "news", "R", "N", True),
        (0, "torn", "A", "B", True),
    ],
    columns=["plane", "topic", "parent", "child", "member"],
)  # fmt: skip
CHANGES = pandas.DataFrame(
    [
        (1.0, 0, "R", "joined", "", "0" * 16),
        (1.0, 0, "A", "joined", "", "4" + "0" * 15),
        (1.0, 0, "M", "joined", "", "8" + "0" * 15),
        (1.0, 0, "X", "joined", "", "c" + "0" * 15),
        (2.0, 0, "R", "out", "X", "0" * 16),
        (2.0, 0, "A", "out", "M", "4" + "0" * 15),
        (3.0, 0, "A", "neighbour in", "M", "4" + "0" * 15),
        (3.0, 1, "Q", "joined", "", "1" + "0" * 15),
    ],
    columns=["time_s", "plane", "broker", "change", "peer", "id"],
)


def test_a_tree_has_its_last_root_and_one_without_a_root_has_no_picture() -> None:
    (tree,) = trees_of(SHAPES, EDGES)
    assert (tree.topic, tree.root, tree.brokers) == ("news", "R", ["A", "M", "N", "R"])
    assert [tree.role(name) for name in ("R", "A", "M", "X")] == ["root", "relay", "member", "other"]


def test_levels_are_hops_from_the_root_and_parents_stand_over_their_children() -> None:
    (tree,) = trees_of(SHAPES, EDGES)
    places = levels(tree)
    assert places["R"][1] < places["A"][1] == places["N"][1] < places["M"][1]
    assert places["A"][0] == places["M"][0] != places["N"][0]
    assert places["R"][0] == pytest.approx((places["A"][0] + places["N"][0]) / 2)


def test_a_circle_in_a_tree_that_was_changing_ends() -> None:
    round_about = pandas.DataFrame(
        [(0, "news", "R", "A", True), (0, "news", "A", "R", True)], columns=EDGES.columns
    )
    (tree,) = trees_of(SHAPES, round_about)
    assert set(levels(tree)) == {"R", "A"}


def test_who_is_in_the_ring_when_the_run_ends() -> None:
    assert ring_of(CHANGES, 0) == {"A": 1 << 62, "M": 1 << 63, "R": 0}


def test_pictures_say_what_they_show() -> None:
    (tree,) = trees_of(SHAPES, EDGES)
    drawn = tree_picture(tree)
    assert "4 brokers" in drawn.text
    assert "1 unrelated relays" in drawn.text
    assert "depth 2" in drawn.text
    assert drawn.svg.count("<line") == 3
    ring = ring_picture(tree, ring_of(CHANGES, 0))
    assert ring.svg.count("<line") == 2  # N is in no ring
    assert "A: unrelated relay" in ring.svg


def test_relays_and_maintenance() -> None:
    rows = [("relays_to_root", 0, 3, 0.75), ("relays_to_root", 2, 1, 0.25), ("overlay", 1, 4, 1.0)]
    drawn = relays(pandas.DataFrame(rows, columns=["measure", "hops", "count", "share"]))
    assert drawn is not None
    assert "0.50 on the way to the root" in drawn.text
    sent = pandas.DataFrame(
        [(0.0, "overlay", "ring", 5), (20.0, "overlay", "ring", 7), (0.0, "overlay", "data_to_root", 99)],
        columns=["window_s", "link", "purpose", "messages"],
    )
    kept = maintenance(sent)
    assert kept is not None
    assert kept.numbers is not None
    assert kept.numbers["ring"].tolist() == [5, 0, 7]
    assert "data" not in kept.text.replace("carry no publication", "")
    assert maintenance(sent[sent.purpose != "ring"]) is None
