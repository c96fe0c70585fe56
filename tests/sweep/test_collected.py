"""Columns and rows of a sweep's tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas
import pytest

from testbed.sweep.grid import Point
from testbed.sweep.point import Done
from testbed.sweep.tables import ABSENT, one_type, write_points


@pytest.mark.parametrize(
    ("values", "kind", "text"),
    [
        ([1, 2], "int64", ["1", "2"]),
        ([1, ABSENT], "Int64", ["1", ""]),
        ([True, False], "bool", ["True", "False"]),
        ([True, ABSENT], "boolean", ["True", ""]),
        ([1, 0.5], "float64", ["1.0", "0.5"]),
        ([0.5, ABSENT], "float64", ["0.5", ""]),
        (["a", ABSENT], "string", ["a", ""]),
        ([0, "10 Mbit/s", ABSENT], "string", ["0", "10 Mbit/s", ""]),
        ([True, 1], "string", ["true", "1"]),
        ([2**70, 1], "string", [str(2**70), "1"]),
        ([None, 1, ABSENT], "string", ["null", "1", ""]),
        ([{"name": "grape"}, []], "string", ['"{""name"": ""grape""}"', "[]"]),
    ],
)
def test_a_setting_has_one_type_over_all_points(
    tmp_path: Path, values: list[Any], kind: str, text: list[str]
) -> None:
    table = pandas.DataFrame({"n": range(len(values)), "set.x": one_type(values)})
    assert str(table["set.x"].dtype) == kind
    lines = [line.partition(",")[2] for line in table.to_csv(index=False).splitlines()[1:]]
    assert lines == text
    table.to_parquet(tmp_path / "t.parquet")
    assert pandas.read_parquet(tmp_path / "t.parquet")["set.x"].isna().tolist() == [
        v is ABSENT for v in values
    ]


def test_every_point_has_a_row_whatever_became_of_it(tmp_path: Path) -> None:
    points = [Point("a", 1, {"x.y": 4}), Point("b", 2, {}), Point("c", 3, {"x.y": 5})]
    done = {"a": Done("a", 0, "small/r1", "", 1.0)}
    failed = {"b": Done("b", 1, "small/r2", "links are not up", 1.0), "c": Done("c", 1, "", "killed", 0.0)}
    write_points(tmp_path, points, done, failed)
    assert (tmp_path / "tables" / "points.csv").read_text().splitlines() == [
        "point,status,reason,run,folder,seed,set.x.y",
        "a,done,,r1,points/a/small/r1,1,4",
        "b,failed,links are not up,r2,points/b/small/r2,2,",
        "c,failed,killed,,points/c,3,5",
    ]
