"""Sweep files and their points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from testbed.errors import InputError
from testbed.sweep.grid import point_id, points, set_at
from testbed.sweep.sweepfile import SweepFile, load_sweep


def sweep(**changes: Any) -> SweepFile:
    return SweepFile(**{"name": "s", "topology": "t.yaml", **changes})


def test_all_combinations_times_seeds() -> None:
    found = points(sweep(grid={"a": [1, 2], "b.c": ["x", "y"]}, seeds=[1, 2, 3]))
    assert len(found) == 12
    assert found[0].settings == {"a": 1, "b.c": "x"}
    assert [p.seed for p in found[:3]] == [1, 2, 3]


def test_points_that_belong_together_are_multiplied_with_the_grid() -> None:
    found = points(sweep(points=[{"a": 1, "b": 1}, {"a": 2, "b": 2}], grid={"c": [0, 1]}))
    assert [p.settings for p in found] == [
        {"a": 1, "b": 1, "c": 0},
        {"a": 1, "b": 1, "c": 1},
        {"a": 2, "b": 2, "c": 0},
        {"a": 2, "b": 2, "c": 1},
    ]


def test_a_point_given_twice_is_refused() -> None:
    with pytest.raises(InputError, match="twice"):
        points(sweep(grid={"a": [1, 1]}))


def test_ids_are_folder_names_and_stay_the_same() -> None:
    id_ = point_id({"algorithm": {"name": "grape", "weight": 1}, "x.y": "a/b c"}, 3)
    assert "/" not in id_
    assert " " not in id_
    assert point_id({"a": 1}, 1) == point_id({"a": 1}, 1)
    assert point_id({"a": 1}, 1) != point_id({"a": 2}, 1)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("10 Mbit/s", "x=10-Mbit-s_"),
        ({"name": "grape", "weight": 1}, "x=grape_"),
        ({"name": 5}, "x=b003_"),
        ({"weight": 1}, "x=7fcc_"),
        ([{"at": "1s", "kill": "B1"}], "x=586e_"),
        ([], "x=4f53_"),
    ],
)
def test_ids_are_readable_whatever_a_value_is(value: Any, shown: str) -> None:
    assert point_id({"a.x": value}, 3).startswith(f"{shown}seed=3-")


def test_setting_a_value_by_its_place() -> None:
    data = {"clients": {"sub": {"spread": 16}}, "duration": "60s"}
    set_at(data, "clients.sub.spread", 4)
    set_at(data, "algorithm", {"name": "pop"})
    assert data == {"clients": {"sub": {"spread": 4}}, "duration": "60s", "algorithm": {"name": "pop"}}


def test_a_place_that_does_not_exist_names_what_does() -> None:
    with pytest.raises(InputError, match=r"clients\.subs\.spread") as error:
        set_at({"clients": {"sub": {}}}, "clients.subs.spread", 4)
    assert error.value.hint is not None
    assert "sub" in error.value.hint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: x\ntopology: t.yaml\nsedes: [1]\n", "sedes"),
        ("name: x\n", "topology"),
        ("name: X Y\ntopology: t.yaml\n", "x.yaml:1:7: name cannot be 'X Y'; it must match ^[a-z]"),
        ("name: x\ntopology: t.yaml\nengine: cloud\n", "engine"),
        ("name: x\ntopology: t.yaml\nseeds: []\n", "x.yaml:3:8: seeds is empty; write at least 1"),
        ("name: x\ntopology: t.yaml\ngrid: {a: []}\n", "x.yaml:3:11: a is empty; write at least 1"),
        ("name: [", "x.yaml:"),
    ],
)
def test_bad_sweep_files_are_told_with_their_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        load_sweep(path)
    assert said in str(error.value)
    assert "x.yaml" in str(error.value)
