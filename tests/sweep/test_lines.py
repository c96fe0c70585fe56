"""Mistakes in the points of a sweep: told with the sweep file's line and column, and nothing starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import InputError
from testbed.sweep.run import run_sweep

TOPOLOGY = """
name: small
network: {generator: chain, nodes: 2, link: {latency: 5ms}}
brokers: {B: {count: 2}}
duration: 5s
clients:
  p: {broker: B1, publish: {source: topic, rate: 2/s, parameters: {topic: news}}}
  s: {broker: B2, subscribe: ["[class,eq,'news']"]}
"""
HEAD = "name: s\ntopology: t.yaml\n"


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("grid:\n  netwrk.link.latency: [5ms]\n", "sweep.yaml:4:3", "netwrk"),
        ("grid:\n  duraton: [5s]\n", "sweep.yaml:4:3", "did you mean 'duration'"),
        ("grid:\n  network.link.latency: [5ms, 6parsec]\n", "sweep.yaml:4:31", "'parsec'"),
        ("points:\n  - duration: 5s\n  - duration: soon\n", "sweep.yaml:5:15", "soon"),
        ("points:\n  - clients.x.broker: B1\n", "sweep.yaml:4:5", "clients.x.broker"),
        ("grid:\n  duration: [5s, 6s, 5s]\n", "sweep.yaml:4:22", "twice"),
        ("seeds: [1, 2, 1]\n", "sweep.yaml:3:15", "twice"),
        ("points:\n  - duration: 5s\n  - duration: 5s\n", "sweep.yaml:5:5", "twice"),
        (
            "points: [{duration: 5s}]\ngrid: {duration: [6s]}\n",
            "sweep.yaml:3:11",
            "and in `grid`",
        ),
        ("grid: {duration: []}\n", "sweep.yaml:3:18", "duration is empty"),
        (
            "grid: {duration: [5s], seed: [1, 2]}\n",
            "sweep.yaml:3:24",
            "'seed' cannot stand in `grid`; use `seeds`",
        ),
        ("points:\n  - duration: 5s\n  - seed: 3\n", "sweep.yaml:5:5", "use `seeds`"),
        ("clock: real\n", "sweep.yaml:3:8", "`engine: host` has it"),
        ("clock: virtual\n", "sweep.yaml:3:8", "no virtual clock"),
        ("grid:\n  brokers.B.count: [2, 1]\n", "sweep.yaml:4:3", "brokers.B.count: 1"),
    ],
)
def test_a_mistake_in_a_point_has_its_line_in_the_sweep_file(
    tmp_path: Path, text: str, place: str, said: str
) -> None:
    (tmp_path / "t.yaml").write_text(TOPOLOGY)
    file = tmp_path / "sweep.yaml"
    file.write_text(HEAD + text)
    with pytest.raises(InputError) as error:
        run_sweep(file, tmp_path / "results", "local[2]", lambda line: None)
    assert f"{place}: " in str(error.value)
    assert said in str(error.value)
    assert not (tmp_path / "results").exists()


def test_a_topology_that_is_not_there_is_told_where_it_is_named(tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text("name: s\ntopology: nowhere.yaml\n")
    with pytest.raises(InputError, match=r"sweep\.yaml:2:11: nowhere\.yaml: there is no such file") as error:
        run_sweep(file, tmp_path / "results", "local[2]", lambda line: None)
    assert f"relative to the sweep file: {tmp_path / 'nowhere.yaml'}" in str(error.value)


def test_a_mistake_of_the_topology_itself_has_its_line_there(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(TOPOLOGY.replace("broker: B1", "broker: B7"))
    file = tmp_path / "sweep.yaml"
    file.write_text(HEAD + "grid: {duration: [5s, 6s]}\n")
    with pytest.raises(InputError, match=r"t\.yaml:7:"):
        run_sweep(file, tmp_path / "results", "local[2]", lambda line: None)
