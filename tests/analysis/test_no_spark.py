"""What must work, or fail well, without Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.analysis.evidence.attributes import attributes_of
from testbed.analysis.evidence.interests import FOREVER, Interest, Interests, Timeline
from testbed.analysis.evidence.runs import load_runs
from testbed.analysis.sample.run_folder import make_run
from testbed.analysis.spark.session import NoJava, find_java
from testbed.errors import InputError


def test_no_java_is_said_with_advice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(NoJava, match="no `java` on the PATH") as caught:
        find_java()
    assert "openjdk-17" in str(caught.value.hint)


def test_the_command_without_java_shows_no_traceback(tmp_path: Path) -> None:
    make_run(tmp_path / "run", publications=1)
    command = [sys.executable, "-c", "from testbed.cli import main; main()", "analyze", str(tmp_path / "run")]
    environment = {**os.environ, "PATH": str(tmp_path), "TESTBED_DEBUG": "0"}
    environment.pop("JAVA_HOME", None)
    said = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert said.returncode == 1
    assert "error: Spark cannot start" in said.stderr
    assert "fix: install Java 17" in said.stderr
    assert "Traceback" not in said.stderr


def test_folders_that_are_no_run_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no run folder"):
        load_runs([tmp_path / "nowhere"])
    with pytest.raises(InputError, match=r"it has no plan\.json"):
        load_runs([tmp_path])
    make_run(tmp_path / "run", publications=1)
    (tmp_path / "run" / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        load_runs([tmp_path / "run"])


def test_a_newer_plan_is_refused(tmp_path: Path) -> None:
    make_run(tmp_path / "run", publications=1)
    file = tmp_path / "run" / "plan.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "version": 99}))
    with pytest.raises(InputError, match="plan version 99"):
        load_runs([tmp_path / "run"])


def test_runs_of_different_versions_are_warned_about(tmp_path: Path) -> None:
    for name in ("a", "b"):
        make_run(tmp_path / name, publications=1, run=name)
    file = tmp_path / "b" / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "version": "9.9"}))
    for run in load_runs([tmp_path / "a", tmp_path / "b"]):
        assert any("0.1.0, 9.9" in warning for warning in run.warnings)


def test_two_folders_with_the_same_run_id_are_told_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        make_run(tmp_path / name, publications=1, run="same")
    assert len({run.key for run in load_runs([tmp_path / "a", tmp_path / "b"])}) == 2


def test_latest_is_the_run_it_points_to(tmp_path: Path) -> None:
    make_run(tmp_path / "r1", publications=1)
    (tmp_path / "latest").symlink_to("r1")
    assert [run.key for run in load_runs([tmp_path / "latest", tmp_path / "r1"])] == ["r1"]


def test_matching_looks_up_by_equality_and_tests_the_rest() -> None:
    stock = "[class,eq,'STOCK']"
    interests = Interests(
        [
            Interest("a", f"{stock},[symbol,eq,'IBM']", 0, 0),
            Interest("b", f"{stock},[symbol,eq,'IBM'],[price,>,10]", 0, 0),
            Interest("c", f"{stock},[price,<,5]", 0, 0),
            Interest("d", "[class,eq,'NEWS']", 0, 0),
            Interest("e", "not a filter", 0, 0),
        ]
    )
    assert interests.unreadable == 1
    attributes = attributes_of("[class,'STOCK'],[symbol,'IBM'],[price,3]")
    assert attributes is not None
    assert {found.client for found in interests.matching(attributes)} == {"a", "c"}
    assert attributes_of("nonsense") is None


def test_a_fault_excuses_a_loss_only_while_it_lasts() -> None:
    timeline = Timeline(
        disturbed=((100, 200),), ended_us=1000, flight_us=10, interrupted={"c": ((500, 600),)}
    )
    assert timeline.quiet("c", 50)
    assert not timeline.quiet("c", 95)  # under way when it began
    assert not timeline.quiet("c", 150)
    assert timeline.quiet("c", 201)
    assert not timeline.quiet("c", 550)
    assert timeline.quiet("d", 550)
    assert not timeline.quiet("d", 995)
    assert FOREVER > 10**18


def test_documentation_lists_every_table_and_column() -> None:
    from testbed.analysis.tables.catalogue import TABLES

    text = (Path(__file__).parents[2] / "docs" / "tables.md").read_text()
    for table, columns in TABLES.items():
        assert f"## {table}" in text
        for column in columns:
            assert f"| `{column}` |" in text, (table, column)


def test_tables_of_nothing_are_empty_and_whole(tmp_path: Path) -> None:
    import pandas as pd

    from protos.records import FlowCounter, PortCounter, ProbeResult
    from testbed.analysis.sources.driver_records import read_on_driver
    from testbed.analysis.tables import fidelity, hops, links, overhead, wire
    from testbed.analysis.wire.witness import FACT_SCHEMA

    make_run(tmp_path / "run", publications=1, capture=False)
    runs = load_runs([tmp_path / "run"])
    facts = FACT_SCHEMA.empty_table().to_pandas()
    calls = wire.identify(facts, runs)
    counts = wire.wire_counts(facts, calls, {})
    directions = wire.wire(facts, calls, runs)
    assert list(directions.columns) == ["run", *wire.COLUMNS]
    none = pd.DataFrame(columns=["run", "sender", "receiver", "type", "leg", "messages", "bytes", "late"])
    brokers = {runs[0].key: runs[0].brokers}
    seen = directions[["run", "source", "target"]]
    made = overhead.overhead(none, counts, {}, brokers, {}, {})
    assert list(made.columns) == ["run", *overhead.COLUMNS]
    assert list(overhead.link_messages(none, counts, seen, brokers).columns) == [
        "run",
        *overhead.LINK_COLUMNS,
    ]
    assert list(fidelity.fidelity(read_on_driver(ProbeResult, {})).columns) == ["run", *fidelity.COLUMNS]
    counters = read_on_driver(PortCounter, {}), read_on_driver(FlowCounter, {})
    assert len(links.links(facts, *counters, runs)) == 6
    distribution = pd.DataFrame(columns=["run", "measure", "hops", "count"])
    assert list(hops.hops(distribution).columns) == ["run", *hops.COLUMNS]
