"""One row per exchange from what its brokers said, and the trees that a page draws of them."""

from __future__ import annotations

from typing import Any

import pandas

from testbed.analysis.tables.exchanges import COLUMNS, exchanges
from testbed.report import exchanged
from testbed.run.overlay import Overlay
from testbed.topology.load import load_plan_text
from testbed.topology.plan import OverlayLink

PLAN = """
name: t
seed: 1
duration: 5s
network: {generator: chain, nodes: 4}
brokers: {B: {count: 4, place: one_per_node}}
overlay: {generator: chain}
"""


def said(node: str, t_us: int, type_: str = "done", **more: Any) -> dict[str, Any]:
    row = {"kind": "EXCHANGED", "node": node, "t_us": t_us, "type": type_, "message": "B1-x1", "hops": 4,
           "duration_us": t_us, "content": "B1 B4 B2 B3", "group": "", "detail": ""}  # fmt: skip
    return row | more


def test_a_row_per_exchange() -> None:
    rows = [said("B3", 100), said("B1", 300, group="ordered", detail="cost 3"), {"kind": "LINK_UP"}]
    frame = exchanges(rows, 50, "r")
    (row,) = frame.to_dict("records")
    assert {*frame.columns} == {*COLUMNS, "run"}
    assert (row["outcome"], row["brokers"], row["duration_us"], row["detail"]) == ("done", 2, 300, "cost 3")
    assert (row["added_a"], row["added_b"], row["removed_a"], row["removed_b"]) == ("B1", "B4", "B2", "B3")
    assert row["time_s"] == 0.00025


def test_brokers_that_disagree_are_told() -> None:
    (row,) = exchanges([said("B3", 1), said("B1", 2, "aborted")], 0, "r").to_dict("records")
    assert row["outcome"] == "mixed"


def test_no_exchange_is_an_empty_table() -> None:
    frame = exchanges([], 0, "r")
    assert not len(frame)
    assert {*frame.columns} == {*COLUMNS, "run"}


def test_the_page_has_the_tree_before_and_after() -> None:
    frame = exchanges([said("B1", 300, group="ordered")], 0, "r")
    before, after = exchanged.trees(load_plan_text(PLAN, "t.yaml"), frame)
    assert before.numbers is not None
    assert after.numbers is not None
    assert {(a, b) for a, b in zip(before.numbers.a, before.numbers.b, strict=True)} == {
        ("B2", "B1"), ("B3", "B2"), ("B4", "B3"),
    }  # fmt: skip
    assert {(a, b) for a, b in zip(after.numbers.a, after.numbers.b, strict=True)} == {
        ("B2", "B1"), ("B4", "B3"), ("B1", "B4"),
    }  # fmt: skip
    assert list(exchanged.course(frame).new) == ["B1 - B4"]


def test_changes_of_the_overlay_may_be_told_often_and_in_any_order() -> None:
    links = [OverlayLink("B1", "B2"), OverlayLink("B2", "B3")]
    changes = [("x1", ("B1", "B3"), ("B1", "B2")), ("x2", ("B2", "B1"), ("B3", "B1"))]
    for order in (changes, changes[::-1], [*changes, *changes]):
        overlay = Overlay(links)
        for change in order:
            overlay.change(*change)
        assert {frozenset((link.a, link.b)) for link in overlay.links} == {
            frozenset(("B1", "B2")), frozenset(("B2", "B3")),
        }  # fmt: skip


def test_the_page_tells_what_is_not_paid_for_notifications() -> None:
    rows = [(0, "data", 30.0), (0, "interest", 10.0), (10, "data", 50.0), (10, "exchange", 10.0)]
    drawn = exchanged.costs(pandas.DataFrame(rows, columns=["window_s", "purpose", "cost"]))
    assert "100, of which 20.0% are not for notifications (exchange 10.0%, interest 10.0%)" in drawn.text
    assert drawn.numbers is not None
    assert drawn.numbers["data"].to_list() == [30.0, 50.0]
