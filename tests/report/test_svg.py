"""Drawing: what a chart writes beside its marks."""

from __future__ import annotations

import re

import pytest

from testbed.report.svg import Axis, Chart, amount


@pytest.mark.parametrize(
    ("value", "text"), [(18_091, "18.1 kB"), (898, "898 B"), (2_500_000, "2.5 MB"), (0, "0 B")]
)
def test_amounts(value: float, text: str) -> None:
    assert amount(value, "B") == text


def test_the_labels_of_faults_do_not_touch() -> None:
    chart = Chart("t", "d", Axis("s", 0, 60), Axis("n", 0, 1), width=1080)
    for left, right, label in ((10, 15.5, "kill B4"), (15, 15.5, "start B4"), (40, 60, "kill B3")):
        chart.band(left, right, label, label)
    rows = re.findall(r'y="(\d+)"[^>]*>(kill B4|start B4|kill B3)<', chart.svg())
    at = {label: int(y) for y, label in rows}
    assert at["start B4"] > at["kill B4"] == at["kill B3"]
