"""A run whose logs count gives the sums of the same run whose logs tell everything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from testbed.reproduction.evidence.logs import evidence
from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Options
from testbed.run.fidelity import read_events
from testbed.run.folder import RunFolder
from testbed.simulation.engine import SimulateEngine
from testbed.topology.load import load_plan_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FILE = """
name: counted
seed: 1
duration: 30s
network: {{generator: chain, nodes: 3, link: {{latency: 10ms}}}}
defaults: {{broker: {{options: {{heartbeat_interval_us: 500000, matching_us: 100}}}}}}
brokers:
  B: {{count: 3, place: one_per_node}}
overlay: {{generator: chain}}
log_detail: {detail}
clients:
  pub: {{kind: publisher, broker: B1, publish: {{source: stock, rate: 5/s, parameters: {{symbol: YHOO}}}}}}
  far: {{kind: subscriber, broker: B3, subscribe: ["[class,eq,'STOCK']"]}}
  near: {{kind: subscriber, broker: B1, subscribe: ["[class,eq,'STOCK']"]}}
"""
DETAIL = "{counted: [publication, 'heartbeat*'], journeys: 20%}"
SUMS = ["link", "class", "type", "purpose", "log_messages", "log_bytes"]
BY_BROKER = ["broker", "link", "purpose"]


def run(folder: Path, detail: str) -> RunFolder:
    engine = SimulateEngine()
    plan = load_plan_text(FILE.format(detail=detail), "counted.yaml")
    made = prepare(plan, None, folder, engine.name, "simulated")
    deploy(made, engine, Options("simulated"), lambda event: None)
    return made


def test_sums_are_those_of_a_log_that_tells_everything(spark: SparkSession, tmp_path: Path) -> None:
    from testbed.analysis import analyze

    told, counted = run(tmp_path / "told", "{}"), run(tmp_path / "counted", DETAIL)
    sizes = [sum(file.stat().st_size for file in one.events.glob("*")) for one in (told, counted)]
    assert sizes[1] < sizes[0] / 2
    tables = [analyze([one], spark=spark, write=False) for one in (told, counted)]
    late = ("heartbeat", "heartbeat_answer")  # those of the stopping cannot be told apart in a count

    def overhead(number: int) -> list[tuple[object, ...]]:
        frame = tables[number].frame("overhead")
        frame = frame[~frame["type"].isin([*late, "all"])]
        return list(frame[SUMS].itertuples(index=False, name=None))

    assert overhead(0) == overhead(1)
    assert {"publication"} <= {row[2] for row in overhead(1)}
    beats = [t.frame("overhead").set_index("type").loc[list(late)].log_messages.sum() for t in tables]
    assert 0 <= beats[1] - beats[0] <= 12
    for analysis in tables:
        per_window = analysis.frame("purposes").groupby(["link", "purpose"])[["messages", "bytes"]].sum()
        frame = analysis.frame("overhead")
        whole = (
            frame[frame["type"] != "all"].groupby(["link", "purpose"])[["log_messages", "log_bytes"]].sum()
        )
        assert per_window.to_numpy().tolist() == whole.to_numpy().tolist()
        assert not [check for check in next(iter(analysis.verdicts.values())) if check.failed]
    processed = [t.frame("load").publications_per_s.sum() for t in tables]
    assert processed[0] == processed[1] > 0
    assert [t.frame("load").matching_us.max() for t in tables] == [100, 100]


def test_followed_publications_have_whole_journeys_and_no_other_has_half_of_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    from testbed.analysis import analyze

    folder = run(tmp_path, DETAIL)
    hops = analyze([folder], spark=spark, write=False).frame("hops").set_index("measure")
    events = [event for path in folder.events.glob("*.jsonl") for event in read_events(path)]
    followed = {e.message for e in events if e.kind == "PROCESSED"}
    published = {e.message for e in events if e.kind == "PUBLISHED"}
    assert 0 < len(followed) < len(published)
    assert hops.loc["relays", "count"] == len(followed)
    assert hops.loc["relays", "mean"] == 1  # B2 serves nobody
    assert hops.loc["overlay", "count"] == 2 * len(published)  # clients tell everything
    assert hops.loc["network", "count"] == 2 * len(followed)


def test_the_quick_reader_of_whole_sets_counts_alike(tmp_path: Path) -> None:
    told, counted = (evidence(run(tmp_path / name, detail)) for name, detail in (("a", "{}"), ("b", DETAIL)))
    assert counted.overlay["publication"] == told.overlay["publication"] > 0
    assert counted.load.publications.sum() == told.load.publications.sum()
