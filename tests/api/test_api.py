"""The testbed from a program: runs, tables without Spark, sweeps, figures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas
import pytest

from testbed import api
from testbed.errors import InputError, RunFailed

TOPOLOGY = """\
name: small
duration: 5s
network: {generator: chain, nodes: 2, link: {latency: 10ms}}
brokers: {B: {count: 2}}
overlay: {generator: chain}
clients:
  pub: {kind: publisher, broker: B1, publish: {source: stock, rate: 60/min, parameters: {symbol: YHOO}}}
  sub: {kind: subscriber, broker: B2, subscribe: ["[class,eq,'STOCK'],[symbol,eq,'YHOO']"]}
"""


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    file = tmp_path / "small.yaml"
    file.write_text(TOPOLOGY)
    return file


@pytest.fixture
def made(topology: Path, tmp_path: Path) -> api.Run:
    return api.run(topology, "simulate", results=tmp_path / "results", analyze=False, duration="3s")


def test_a_run_is_what_the_command_would_have_made(made: api.Run, tmp_path: Path) -> None:
    assert made.manifest.status == "done"
    assert made.path.parent == tmp_path / "results" / "small"
    assert "simulate engine, seed" in repr(made)
    again = api.load(made.path.parent / "latest")
    assert isinstance(again, api.Run)
    assert again.path == made.path
    assert len(again.plan.brokers) == 2


def test_a_mistake_starts_nothing_and_is_told_with_its_place(topology: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"clients\.sub\.colour"):
        api.run(topology, "simulate", results=tmp_path / "results", settings={"clients.sub.colour": 3})
    assert not (tmp_path / "results").exists()


def test_a_run_without_tables_says_how_to_make_them(made: api.Run) -> None:
    with pytest.raises(InputError, match="no tables yet") as told:
        made.table("delay")
    assert "testbed analyze" in str(told.value.hint)


def test_what_is_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither a run's folder nor a sweep's"):
        api.load(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        api.load(tmp_path / "gone")
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        api.load(tmp_path)


def test_tables_are_read_without_spark(made: api.Run) -> None:
    made.folder.tables.mkdir()
    frame = pandas.DataFrame({"group_by": ["all"], "mean_us": [10_000.0]})
    frame.to_parquet(made.folder.tables / "delay.parquet")
    program = f"""
import sys
from testbed import api
print(api.load({str(made.path)!r}).table("delay", ["mean_us"]).to_csv(index=False))
print(any(name.split(".")[0] == "pyspark" for name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["mean_us", "10000.0", "False"]
    assert made.arrow("delay").column_names == ["group_by", "mean_us"]
    assert made.tables == ("delay",)
    with pytest.raises(InputError, match="no table 'delays'") as told:
        made.table("delays")
    assert "did you mean 'delay'" in str(told.value.hint)


def test_a_run_that_fails_is_an_error_that_names_its_folder(topology: Path, tmp_path: Path) -> None:
    ready = {"links_up": True, "timeout": "1ms"}
    timeline = {"phases": [{"name": "all", "start": ["brokers", "pub", "sub"], "ready": ready}]}
    with pytest.raises(RunFailed) as told:
        api.run(topology, "simulate", results=tmp_path / "results", settings=timeline, analyze=False)
    assert Path(str(told.value.file)).parent == tmp_path / "results" / "small"


def test_a_figure_has_a_line_per_colour_and_an_interval_per_x() -> None:
    rows = pandas.DataFrame(
        [(x, name, x + shift) for x in (1, 4) for name in ("a", "b") for shift in (0, 1, 2)],
        columns=["spread", "system", "delay"],
    )
    (axes,) = api.figure(rows, "spread", "delay", colour="system").axes
    lines = [container.lines[0] for container in axes.containers]
    assert [line.get_xydata().tolist() for line in lines] == [[[1, 2], [4, 5]]] * 2
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    with pytest.raises(InputError, match="no column 'dely'"):
        api.figure(rows, "spread", "dely")


def test_words_on_x_are_not_joined_by_a_line() -> None:
    rows = pandas.DataFrame({"system": ["a", "b"], "delay": [1.0, 2.0]})
    (axes,) = api.figure(rows, "system", "delay").axes
    assert axes.containers[0].lines[0].get_linestyle() == "None"


@pytest.mark.spark
def test_a_sweep_of_a_program_is_one_table(topology: Path, tmp_path: Path) -> None:
    results, grid = tmp_path / "results", {"clients.sub.broker": ["B1", "B2"]}
    swept = api.sweep(topology, grid, seeds=[1, 2], results=results, master="local[1]")
    assert len(swept.points) == 4
    assert set(swept.points.status) == {"done"}
    delays = swept.table("delay").query("group_by == 'all'")
    assert delays.groupby("set.clients.sub.broker").count()["mean_us"].to_dict() == {"B1": 2, "B2": 2}
    assert swept.run(swept.points.point[0]).manifest.status == "done"
    assert isinstance(api.load(swept.path), api.Sweep)
    with pytest.raises(InputError, match="this is no sweep"):
        api.sweep(topology, seeds=[], results=results)
