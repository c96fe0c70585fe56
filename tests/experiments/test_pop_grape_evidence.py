"""The two readers of a POP/GRAPE run agree column by column: Spark's tables and one pass over the logs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pandas
import pytest
from pandas.testing import assert_frame_equal

from experiments.pop_grape.measures import MOVES, measure, relocations, rows_of, timeline
from experiments.pop_grape.points import SMOKE, planned_points
from testbed.reproduction.evidence import logs, tables
from testbed.reproduction.evidence.evidence import Evidence
from testbed.reproduction.measured import FILE, Measures, kept
from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Options, choose
from testbed.run.folder import RunFolder
from testbed.sweep.point import Task, plan_of

TOPOLOGY = Path(__file__).parents[2] / "experiments" / "pop_grape" / "planetlab.yaml"


def simulated(folder: Path, system: str) -> RunFolder:
    wanted = planned_points(SMOKE, ["planetlab clustered"])
    point = next(p for p in wanted if p.system == system and p.spread == 8)
    plan = plan_of(Task("t", str(TOPOLOGY), "simulate", "", 1, point.settings))
    engine, clock, _ = choose("simulate", None)
    run = prepare(plan, TOPOLOGY, folder, engine.name, clock, "test")
    assert deploy(run, engine, Options(clock), lambda event: None).code == 0
    return run


def lose(run: RunFolder, count: int) -> None:
    """Take some deliveries out of the log, from the middle of the run."""
    [path] = run.events.glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    found = [n for n, line in enumerate(lines) if b'"kind":"DELIVERED"' in line]
    gone = set(found[len(found) // 2 :][:count])
    path.write_bytes(b"".join(line for n, line in enumerate(lines) if n not in gone))


@pytest.mark.spark
@pytest.mark.slow
def test_spark_and_the_one_pass_reader_see_the_same(tmp_path: Path) -> None:
    runs = [simulated(tmp_path / system, system) for system in ("POP", "load100")]
    for run, spark in zip(runs, tables.evidences(runs, MOVES, "local[2]", lambda line: None), strict=True):
        ours = logs.evidence(run, MOVES)
        same(spark, ours)
        # Utilisations have nine decimals in the tables.
        known = run.read_catalogue()
        assert measure(spark, known) == pytest.approx(measure(ours, known), rel=1e-6, nan_ok=True)
        assert relocations(spark) == relocations(ours)
        rows = zip(timeline(spark), timeline(ours), strict=True)
        assert all(a == pytest.approx(b, rel=1e-9) for a, b in rows)
        assert measured_again(run, ours)
        assert ours.marks
        assert ours.missing == 0
        assert len(list(timeline(ours))) >= 3


def measured_again(run: RunFolder, evidence: Evidence) -> bool:
    """What is kept beside a run is what was measured, and another run's is not taken."""
    reading = Measures(lambda run: rows_of(run, evidence), ("experiments.pop_grape.measures",))
    first = kept(run, reading)
    again = kept(run, replace(reading, of=lambda _: pytest.fail("measured twice")))
    (run.path.parent / FILE).write_bytes(b'{"code": "old", "run": "", "rows": {}}')
    return first == again == kept(run, reading) and first["runs"][0]["memory_mb"] is None


def same(a: Evidence, b: Evidence) -> None:
    for name in ("brokers", "origin_us", "begin_us", "end_us", "overlay", "missing", "duplicates", "marks"):
        assert getattr(a, name) == getattr(b, name), name
    keys = ["broker", "window_s"]
    assert_frame_equal(plain(a.load, keys), plain(b.load, keys), check_exact=False, rtol=1e-8)
    columns = list(a.delivered)
    assert_frame_equal(plain(a.delivered, columns), plain(b.delivered, columns))


def plain(frame: pandas.DataFrame, keys: list[str]) -> pandas.DataFrame:
    """Sorted, and with one type for numbers whatever the reader made of them."""
    numbers = [c for c in frame if c not in ("broker", "client")]
    return frame.sort_values(keys, ignore_index=True).astype(dict.fromkeys(numbers, "float64"))


@pytest.mark.spark
@pytest.mark.slow
def test_both_readers_count_what_was_lost(tmp_path: Path) -> None:
    run = simulated(tmp_path, "baseline")
    lose(run, 7)
    assert logs.evidence(run).missing == 7
    with pytest.raises(Exception, match=re.escape("no missing delivery")):
        tables.evidences([run], MOVES, "local[2]", lambda line: None)
