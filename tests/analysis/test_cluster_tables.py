"""The table `clusters`, from a few records."""

from __future__ import annotations

import json
from typing import Any

from testbed.analysis.tables.clusters import clusters


def said(at_s: float, operation: str, **more: Any) -> dict[str, Any]:
    content = {"operation": operation, "topics": ["a", "b"], "users": 7, "estimate": -1.0, "threshold": -1.0}
    return {
        "t_us": int(at_s * 1e6),
        "node": "B1",
        "message": "cluster/1",
        "content": json.dumps(content | more),
    }


def test_an_operation_has_a_row_with_its_estimate_against_its_threshold() -> None:
    table = clusters([said(3, "added", topic="b", estimate=5.5, threshold=4)], 1_000_000)
    assert table.values.tolist() == [[2.0, "cluster/1", "B1", "added", "b", "a b", 7, 5.5, 4.0]]


def test_what_was_not_estimated_is_null() -> None:
    table = clusters([said(1, "sampled"), said(2, "destroyed", topics=[])], 0)
    assert table.operation.tolist() == ["sampled", "destroyed"]
    assert table.topics.tolist() == ["a b", ""]
    assert table.estimate.isna().all()
    assert table.threshold.isna().all()


def test_a_run_without_clusters_has_an_empty_table() -> None:
    assert clusters([], 0).empty
