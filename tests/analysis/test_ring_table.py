"""The table `ring_changes`, from a few records."""

from __future__ import annotations

import json
from typing import Any

from broker_grpc.protocols.ring.identifiers import Member
from broker_grpc.protocols.ring.record import changed
from broker_grpc.protocols.ring.tables import Tables
from testbed.analysis.tables.rings import KIND, ring_changes


def row(at_s: float, node: str, peer: str, detail: str) -> dict[str, Any]:
    """As a broker logs it."""
    event = changed(Tables(Member(10, node), [Member(1, "P")], [Member(30, "S")]), 0, peer, detail)
    assert event.kind == KIND
    told = {"peer": event.peer, "detail": event.detail, "content": event.content}
    assert json.loads(event.content)["id"] == f"{10:016x}"
    return {"t_us": int(at_s * 1e6), "n": 0, "node": node, **told}


def test_a_row_per_change_until_the_run_ended() -> None:
    rows = [row(1, "B1", "", "joined"), row(2, "B1", "B2", "out: its link is lost"), row(9, "B1", "", "left")]
    table = ring_changes(rows, 500_000, 9_000_000)
    assert table[["time_s", "broker", "change", "peer", "reason"]].values.tolist() == [
        [0.5, "B1", "joined", "", ""],
        [1.5, "B1", "out", "B2", "its link is lost"],
    ]
    assert table[["predecessor", "successor"]].values.tolist() == [["P", "S"], ["P", "S"]]


def test_a_run_without_rings_has_the_columns() -> None:
    assert len(ring_changes([], 0, 1)) == 0
