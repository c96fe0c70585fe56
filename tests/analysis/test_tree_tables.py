"""The tables `trees`, `tree_edges` and `handovers`, from a few records."""

from __future__ import annotations

import json
from typing import Any

from testbed.analysis.tables.trees import ends_of, handovers, trees


def changed(
    at_s: float, node: str, parent: str = "", children: tuple[str, ...] = (), **more: bool
) -> dict[str, Any]:
    said = {"children": children, "root": False, "subscribed": False, "plane": 0} | more
    return {"t_us": int(at_s * 1e6), "n": 0, "node": node, "peer": parent, "message": "news",
            "content": json.dumps(said)}  # fmt: skip


CHAIN = [
    changed(1, "R", children=("A",), root=True),
    changed(2, "A", "R", ("M",)),
    changed(3, "M", "A", subscribed=True),
]


def test_a_tree_is_put_together() -> None:
    shapes, edges = trees(CHAIN, [], 0, 10**12)
    assert shapes.values.tolist() == [[0, "news", 10, 1, 1, 2, "R"]]
    assert edges[["parent", "child", "member"]].values.tolist() == [["A", "M", True], ["R", "A", False]]


def test_one_row_per_window_in_which_it_changed() -> None:
    shapes, _ = trees([*CHAIN, changed(35, "A", "R", ("M",), subscribed=True)], [], 0, 10**12)
    assert shapes[["time_s", "members", "relays"]].values.tolist() == [[10, 1, 1], [40, 2, 0]]


def test_who_is_killed_is_in_no_tree_and_what_comes_after_the_end_does_not_count() -> None:
    shapes, edges = trees([*CHAIN, changed(90, "R")], [(50_000_000, "M")], 0, 60_000_000)
    assert shapes.iloc[-1][["time_s", "members"]].tolist() == [60, 0]
    assert not edges["member"].any()


def test_brokers_that_the_harness_ends() -> None:
    rare = [
        {"kind": "FAULT_STARTED", "type": "kill", "detail": "B1", "node": "harness", "t_us": 5},
        {"kind": "FAULT_STARTED", "type": "partition", "detail": "B2", "node": "harness", "t_us": 6},
        {"kind": "RUN_ENDED", "type": "", "detail": "", "node": "harness", "t_us": 9},
        {"kind": "CRASHED", "type": "", "detail": "B3", "node": "harness", "t_us": 10},
    ]
    assert ends_of(rare, {"B1", "B2", "B3"}) == [(5, "B1")]


def test_a_handover_has_a_row() -> None:
    row = {
        "node": "c",
        "t_us": 3_000_000,
        "detail": "B1",
        "peer": "B2",
        "duration_us": 70,
        "content": '{"a":"b"}',
    }
    assert handovers([row], 1_000_000).values.tolist() == [["c", 2.0, "B1", "B2", 70, 1]]
