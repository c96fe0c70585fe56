"""Tamara's parts with machines: keep-alives message by message, and how trees mend."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import pandas

from experiments.tamara.checkpoint import as_computed, count
from experiments.tamara.measures import repairs
from experiments.tamara.points import SCALES
from experiments.tamara.workload import TWO_MONTHS


def test_an_interval_has_as_many_keep_alives_as_trees_have_edges() -> None:
    size = SCALES["smoke"].size
    setting = asdict(replace(size.setting, days=TWO_MONTHS * size.shortened))
    rows = count(lambda said: None, setting, 1)["checkpoint"]
    assert as_computed(rows).holds is True
    assert rows.messages.min() > 0
    assert rows.joins.tolist()[0] == rows.messages.tolist()[0], "a join makes an edge"
    assert as_computed(rows.assign(others=1)).holds is False
    assert as_computed(pandas.DataFrame()).holds is None


def changed(at_ms: int, node: str, tree: str, parent: str, **more: bool) -> dict[str, Any]:
    said = {"children": [], "root": False, "subscribed": True} | more
    return {
        "kind": "TREE_CHANGED", "t_us": at_ms * 1000, "node": node, "peer": parent, "message": tree,
        "content": json.dumps(said), "type": "", "detail": "",
    }  # fmt: skip


def killed(at_ms: int, broker: str) -> dict[str, Any]:
    return {
        "kind": "FAULT_STARTED",
        "type": "kill",
        "detail": broker,
        "t_us": at_ms * 1000,
        "node": "harness",
    }


def test_a_tree_is_mended_when_each_child_has_another_parent() -> None:
    records = [
        changed(1, "A", "x", "R"), changed(1, "B", "x", "R"), changed(2, "A", "y", "R"),
        changed(3, "C", "x", "A"), changed(3, "D", "y", "R", subscribed=True),
        killed(10, "R"),
        changed(11, "A", "x", ""), changed(14, "A", "x", "S"),  # without a parent it is not mended
        changed(13, "B", "x", "", root=True),
        changed(12, "A", "y", "", subscribed=False),  # it left
    ]  # fmt: skip
    assert list(repairs(records)) == [
        {"killed": "R", "trees": 1, "children": 2, "never": 1, "mean_ms": 3.5, "last_ms": 4.0}
    ]


def test_who_dies_too_is_not_waited_for() -> None:
    records = [changed(1, "A", "x", "R"), killed(10, "R"), killed(11, "A")]
    assert [row["never"] for row in repairs(records)] == [0, 0]
