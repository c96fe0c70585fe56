"""The tables of a small real run, against a plain reference in Python (table_reference.py).

`data/small-run` is a run folder of `data/small-run.yaml` on the guest engine, without its logs of processes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from tests.analysis import table_reference

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from testbed.analysis.result import Analysis

RUN = Path(__file__).parent / "data" / "small-run"
CASES: dict[str, tuple[list[str], Callable[[Path], dict[tuple[str, str], table_reference.Row]]]] = {
    "load": (["broker", "window_s"], table_reference.load),
    "links": (["source", "target"], table_reference.links),
    "losses": (["outcome", "settled"], table_reference.losses),
    "fidelity": (["source", "target"], table_reference.fidelity),
}  # type: ignore[dict-item]


def spoil(run: Path) -> None:
    """What a good run lacks: a duplicate, a phantom and a missing delivery, a lost probe, queues, a drop."""
    edit(run / "events" / "clients-h2.jsonl", _other_deliveries)
    edit(run / "events" / "B2.jsonl", _queues)
    edit(run / "probes" / "h1.jsonl", lambda rows: [rows[0] | {"measured_us": -1}, *rows[1:]])


def edit(file: Path, change: Callable[[list[table_reference.Row]], list[table_reference.Row]]) -> None:
    rows = [json.loads(line) for line in file.open("rb")]
    file.write_text("".join(json.dumps(row) + "\n" for row in change(rows)))


def _other_deliveries(rows: list[table_reference.Row]) -> list[table_reference.Row]:
    first, second, third, *_ = [row for row in rows if row["kind"] == "DELIVERED"]
    return [row for row in rows if row is not third] + [first, second | {"message": "pub:2"}]


def _queues(rows: list[table_reference.Row]) -> list[table_reference.Row]:
    for row in rows:
        row |= {"PROCESSED": {"queueing_us": 7}, "SAMPLED": {"queue": 3}}.get(row["kind"], {})
    return [*rows, rows[-1] | {"kind": "DROPPED"}]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("reference")
    for name in ("whole", "spoilt"):
        shutil.copytree(RUN, base / name)
    spoil(base / "spoilt")
    return base


@pytest.fixture(scope="module")
def both(spark: SparkSession, runs: Path) -> Analysis:
    from testbed.analysis import analyze

    return analyze([runs / "whole", runs / "spoilt"], spark=spark, write=False)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("name", ["whole", "spoilt"])
@pytest.mark.parametrize("table", list(CASES))
def test_table_equals_the_reference(both: Analysis, runs: Path, table: str, name: str) -> None:
    keys, work_out = CASES[table]
    wanted = work_out(runs / name)
    run = next(run.key for run in both.runs if run.folder.path.name == name)
    found = both.frame(table, run).set_index(keys)
    assert sorted(found.index) == sorted(wanted)
    for key, row in wanted.items():
        for column, value in row.items():
            ours = found.loc[key, column]
            if value is None:
                assert pd.isna(ours), (key, column)
            elif isinstance(value, str):
                assert ours == value, (key, column)
            else:
                assert ours == pytest.approx(value, rel=1e-9, abs=1e-9), (
                    key,
                    column,
                )


def test_the_reference_finds_what_was_spoilt(runs: Path) -> None:
    """Else equal tables would say little: every outcome occurs, and each column has something in it."""
    assert set(table_reference.losses(runs / "whole")) == {("delivered", True)}
    assert {outcome for outcome, _ in table_reference.losses(runs / "spoilt")} == {
        "delivered",
        "duplicate",
        "missing",
        "phantom",
    }
    assert table_reference.fidelity(runs / "spoilt")["all", "all"]["lost"] == 1
    for table in ("load", "links"):
        rows = CASES[table][1](runs / "spoilt").values()
        for column in next(iter(rows)):
            assert any(row[column] for row in rows) or column == "counter_dropped", column


def test_every_packet_was_seen_by_port_and_flow_counters_alike(runs: Path) -> None:
    """Nothing is lost on these links: three witnesses, and the switch agrees with itself."""
    rows = table_reference.links(runs / "whole")
    for (sender, _), row in rows.items():
        if row["flow_packets"] is not None:
            assert (row["flow_packets"], row["flow_bytes"]) == (
                row["counter_packets"],
                row["counter_bytes"],
            ), sender
        if row["pcap_packets"] is not None:
            assert 0 < row["pcap_packets"] < row["counter_packets"]  # the counters have the probes too
