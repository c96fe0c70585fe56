"""The tables `reconfigurations` and `places`, from a few records of a manager, and what a page draws."""

from __future__ import annotations

import json
from typing import Any

import pandas

from testbed.analysis.tables.reconfigurations import COLUMNS, PLACE_COLUMNS, places, reconfigurations
from testbed.report import reconfigured

HALF = 1 << 63
NUMBERS = {"brokers": 2, "topics": 3, "moved": 2, "cost": 90.0, "after": 40.0, "benefit": 50.0, "price": 9.0}


def said(kind: str, t_us: int, type_: str, version: str = "1", **more: Any) -> dict[str, Any]:
    row = {"kind": kind, "t_us": t_us, "type": type_, "message": version, "content": "", "detail": ""}
    return row | {"duration_us": 0} | more


def planned(version: str = "1", t_us: int = 1_000_000) -> dict[str, Any]:
    content = json.dumps(NUMBERS | {"places": {"B1": [0, HALF], "B2": [HALF, 0]}})
    return said("RECONFIGURATION_PLANNED", t_us, "planned", version, content=content)


def whole() -> list[dict[str, Any]]:
    ended = json.dumps({"manager": 12, "acknowledgements": 11, "brokers": 30})
    return [
        planned(),
        said("STEP_DONE", 1_200_000, "init", duration_us=200_000),
        said("STEP_DONE", 1_300_000, "overlay", duration_us=100_000),
        said("RECONFIGURATION_ENDED", 2_500_000, "done", content=ended),
    ]


def test_a_row_per_decision() -> None:
    low = said("RECONFIGURATION_PLANNED", 9_000_000, "low_demand", "", content=json.dumps(NUMBERS))
    frame = reconfigurations([*whole(), {"kind": "LINK_UP", "message": ""}, low], 0, "r")
    done, refused = frame.to_dict("records")
    assert {*frame.columns} == {*COLUMNS, "run"}
    assert (done["version"], done["outcome"], done["moved"], done["benefit"]) == (1, "done", 2, 50.0)
    assert (done["init_us"], done["overlay_us"], done["duration_us"]) == (200_000, 100_000, 1_500_000)
    assert (done["orders"], done["acknowledgements"], done["broker_messages"]) == (12, 11, 30)
    assert pandas.isna(done["finish_us"])
    assert refused["outcome"] == "low_demand"
    assert pandas.isna(refused["version"])


def test_one_that_was_rolled_back_or_never_ended() -> None:
    ended = said("RECONFIGURATION_ENDED", 2_000_000, "aborted", detail="no INIT of B2")
    frame = reconfigurations([planned(), ended, planned("2", 3_000_000)], 0, "r")
    assert list(frame.outcome) == ["aborted", "unfinished"]
    assert list(frame.detail) == ["no INIT of B2", ""]


def test_places_before_and_after() -> None:
    frame = places(whole(), "r")
    assert {*frame.columns} == {*PLACE_COLUMNS, "run"}
    assert frame[["broker", "before", "after"]].values.tolist() == [["B1", 0.0, 0.5], ["B2", 0.5, 0.0]]


def test_a_run_without_any_has_empty_tables() -> None:
    assert {*reconfigurations([], 0, "r").columns} == {*COLUMNS, "run"}
    assert not len(places([], "r"))


def test_the_page_draws_the_ring_before_and_after() -> None:
    table, seats = reconfigurations(whole(), 0, "r"), places(whole(), "r")
    edges = pandas.DataFrame(
        [(0, "t", "B1", "B2", True), (1, "t", "B2", "B1", False)],
        columns=["plane", "topic", "parent", "child", "member"],
    )
    before, after = reconfigured.rings(table, seats, edges)
    assert "1 members, 0 unrelated relays, rendezvous point B1" in before.text
    assert "0 members, 1 unrelated relays, rendezvous point B2" in after.text
    assert before.svg.index("B1: rendezvous") < before.svg.index("B2: member"), "in the order of their ids"
    assert after.svg.index("B2: rendezvous") < after.svg.index("B1: unrelated"), "which they have exchanged"


def test_the_page_draws_steps_and_handovers() -> None:
    drawn = reconfigured.steps(reconfigurations(whole(), 0, "r"))
    assert drawn is not None
    assert "init: 200 ms" in drawn.svg
    assert "the longest took 1,500 ms" in drawn.text
    moved = pandas.DataFrame({"time_s": [1.0, 2.0], "client": ["a", "a"], "target": ["B1", "B2"],
                              "duration_us": [5_000, 7_000]})  # fmt: skip
    moves = reconfigured.moves(moved)
    assert moves is not None
    assert moves.text == "2 handovers of 1 clients; half took at most 6 ms."


def test_nothing_begun_draws_nothing() -> None:
    low = said("RECONFIGURATION_PLANNED", 9, "low_demand", "", content=json.dumps(NUMBERS))
    table = reconfigurations([low], 0, "r")
    assert reconfigured.steps(table) is None
    assert reconfigured.rings(table, places([low], "r"), pandas.DataFrame()) == []
