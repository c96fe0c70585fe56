"""`testbed diff --first`: where two runs of one plan part."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from testbed import api
from testbed.cli.diff import command
from testbed.compare.first_divergence import first_divergence
from testbed.errors import InputError

TOPOLOGY = """\
name: small
duration: 4s
network: {generator: chain, nodes: 2, link: {latency: 10ms}}
brokers: {B: {count: 2}}
overlay: {generator: chain}
clients:
  pub: {kind: publisher, broker: B1, publish: {source: stock, rate: 60/min, parameters: {symbol: YHOO}}}
  sub: {kind: subscriber, broker: B2, subscribe: ["[class,eq,'STOCK'],[symbol,eq,'YHOO']"]}
"""
Record = dict[str, Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first")
    (folder / "small.yaml").write_text(TOPOLOGY)
    return api.run(folder / "small.yaml", "simulate", results=folder / "results", analyze=False).path


@pytest.fixture
def other(run: Path, tmp_path: Path) -> Path:
    shutil.copytree(run, tmp_path / "other")
    return tmp_path / "other"


def rewrite(run: Path, node: str, change: Callable[[list[Record]], list[Record]]) -> None:
    """What this process says in the run's logs, wherever they have it."""
    for file in (run / "events").glob("*.jsonl"):
        records = [json.loads(line) for line in file.read_text().splitlines()]
        own = change([record for record in records if record["node"] == node])
        rest = [record for record in records if record["node"] != node]
        file.write_text("".join(json.dumps(record) + "\n" for record in rest + own))


def forwarded(records: list[Record]) -> list[int]:
    return [place for place, record in enumerate(records) if record["kind"] == "FORWARDED"]


def test_two_runs_of_a_simulated_plan_never_part(run: Path, tmp_path: Path) -> None:
    again = api.run(run / "topology.yaml", "simulate", results=tmp_path / "results", analyze=False).path
    assert first_divergence(run, again)[0] is None


def test_the_first_of_all_differences_is_named_with_what_came_before(run: Path, other: Path) -> None:
    def lose_second_and_third(records: list[Record]) -> list[Record]:
        lost = forwarded(records)[1:3]
        return [record for place, record in enumerate(records) if place not in lost]

    rewrite(other, "B1", lose_second_and_third)
    found, _, _ = first_divergence(run, other)
    assert found is not None
    assert (found.node, found.why, found.b) == ("B1", "only in A", None)
    assert found.a is not None
    assert found.a.message == "pub:2"
    told = CliRunner().invoke(command, [str(run), str(other), "--first"], standalone_mode=False)
    assert told.return_value == 1
    lines = told.output.splitlines()
    assert lines[-1].startswith("first divergence: B1, ")
    assert "pub publishes" in " ".join(lines[-5].split())
    assert "B1 matches it" in " ".join(lines[-4].split())
    assert lines[-2] == "B (nothing)"


def test_times_may_differ_by_what_is_allowed(run: Path, other: Path) -> None:
    def late(records: list[Record]) -> list[Record]:
        for place in forwarded(records)[:1]:
            records[place]["t_us"] += 40
        return records

    rewrite(other, "B1", late)
    found, _, _ = first_divergence(run, other, within_us=39)
    assert found is not None
    assert found.why == "40 µs later in B"
    assert first_divergence(run, other, within_us=40)[0] is None


def test_a_fact_that_differs_is_a_difference_and_what_was_measured_is_none(run: Path, other: Path) -> None:
    def edited(records: list[Record]) -> list[Record]:
        return [record | {"sending_us": 5, "memory_bytes": 9} for record in records]

    rewrite(other, "B1", edited)
    assert first_divergence(run, other)[0] is None
    rewrite(other, "B1", lambda records: [record | {"hops": 7} for record in records])
    assert first_divergence(run, other)[0] is not None


def test_runs_of_two_plans_are_not_compared(run: Path, other: Path, tmp_path: Path) -> None:
    (other / "plan.json").write_text("{}")
    with pytest.raises(InputError, match="of different plans"):
        first_divergence(run, other)
    with pytest.raises(InputError, match="this is no run folder"):
        first_divergence(run, tmp_path)
