"""`testbed events`: a run and one publication as lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from protos.records import LogEvent
from testbed import api
from testbed.cli.events import command
from testbed.errors import InputError
from testbed.report.story import sentence

TOPOLOGY = """\
name: small
duration: 4s
network: {generator: chain, nodes: 3, link: {latency: 10ms}}
brokers: {B: {count: 3}}
overlay: {generator: chain}
clients:
  pub: {kind: publisher, broker: B1, publish: {source: stock, rate: 60/min, parameters: {symbol: YHOO}}}
  sub: {kind: subscriber, broker: B3, subscribe: ["[class,eq,'STOCK'],[symbol,eq,'YHOO']"]}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("story")
    (folder / "small.yaml").write_text(TOPOLOGY)
    return api.run(folder / "small.yaml", "simulate", results=folder / "results", analyze=False).path


def told(run: Path, *options: str) -> Result:
    return CliRunner().invoke(command, [str(run), *options])


def test_the_story_of_a_run_has_its_phases_links_and_clients_and_no_single_message(run: Path) -> None:
    lines = told(run).output.splitlines()
    assert "phase" in lines[0]
    assert lines[0].startswith("     0.000000 s  harness")
    assert any(line.endswith("link with B2 is up") for line in lines)
    assert any(
        line.endswith("sub      subscribes to [class,eq,'STOCK'],[symbol,eq,'YHOO']") for line in lines
    )
    assert not any("publishes" in line for line in lines)
    times = [float(line.split()[0]) for line in lines]
    assert times == sorted(times)
    assert any("publishes" in line for line in told(run, "--all").output.splitlines())


def test_the_journey_of_a_publication_is_counted_from_its_start(run: Path) -> None:
    lines = told(run, "--publication", "pub:1").output.splitlines()
    steps = [line.split(None, 3)[3] for line in lines]
    assert lines[0].startswith("     0.000000 s  pub")
    assert [step.split(" ")[0] for step in steps] == [
        "publishes", "matches", "sends", "matches", "sends", "matches", "sends", "has",
    ]  # fmt: skip
    assert float(lines[-1].split()[0]) == 0.020  # two links of 10 ms, simulated
    assert steps[-1] == "has it, over 2 hops"


def test_of_one_node_is_told_what_it_did_and_what_others_did_to_it(run: Path) -> None:
    lines = told(run, "--node", "B2").output.splitlines()
    assert any(" B1 " in line for line in lines)
    assert not any("sub " in line for line in lines)


def test_following_a_run_that_is_over_tells_it_whole(run: Path) -> None:
    assert told(run, "--follow").output == told(run).output


def test_what_is_not_there_is_told(run: Path) -> None:
    failed = told(run, "--publication", "pub:99").exception
    assert isinstance(failed, InputError)
    assert failed.hint is not None
    assert "pub:1" in failed.hint
    failed = told(run, "--node", "B9").exception
    assert isinstance(failed, InputError)
    assert failed.hint is not None
    assert "B1, B2, B3" in failed.hint


def test_a_kind_of_another_package_is_told_too() -> None:
    assert sentence(LogEvent(kind="RUMOUR_HEARD", peer="B2", detail="twice")) == "rumour heard B2 twice"
