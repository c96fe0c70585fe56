"""What the switches counted, as rows of the table `links`: from the first packet on, and over re-routing."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pandas as pd
import pytest

from protos.records import FlowCounter, PortCounter
from testbed.analysis.evidence.runs import load_runs
from testbed.analysis.sample import run_folder as sample
from testbed.analysis.sources.driver_records import read_on_driver
from testbed.analysis.tables.links import links
from testbed.analysis.wire.witness import FACT_SCHEMA


def table(tmp_path: Path, ports: list[PortCounter], flows: list[FlowCounter]) -> pd.DataFrame:
    """Of a star: h1 and h2 at s1."""
    made = sample.make_run(tmp_path / "run", brokers=2, publications=1, capture=False).folder
    encode = msgspec.json.Encoder().encode_lines
    (made.controller / "ports.jsonl").write_bytes(encode(ports) + b'{"t_us": 1, "no')
    (made.controller / "flows.jsonl").write_bytes(encode(flows) + b'{"t_us": 1, "no')
    runs = load_runs([made.path])
    counted = read_on_driver(PortCounter, {runs[0].key: [made.controller / "ports.jsonl"]})
    routed = read_on_driver(FlowCounter, {runs[0].key: [made.controller / "flows.jsonl"]})
    found = links(FACT_SCHEMA.empty_table().to_pandas(), counted, routed, runs)
    return found.set_index(["source", "target"])


def flow(t_us: int, target: str, packets: int, peer: str) -> FlowCounter:
    return FlowCounter(t_us, "s1", target, packets, 100 * packets, peer)


def test_what_was_counted_before_the_first_reading_counts(tmp_path: Path) -> None:
    ports = [PortCounter(t, "s1", "h1", 5 * t, 500 * t, 7 * t, 700 * t, 1, 2) for t in (1, 2, 3)]
    found = table(tmp_path, ports, [flow(t, "h1", 8 * t, "h1") for t in (1, 2, 3)])
    up, down = found.loc["h1", "s1"], found.loc["s1", "h1"]
    assert (up["counter_packets"], up["counter_bytes"], up["counter_dropped"]) == (15, 1500, 1)
    assert (down["counter_packets"], down["counter_bytes"], down["counter_dropped"]) == (21, 2100, 2)
    assert (down["flow_packets"], down["flow_bytes"]) == (24, 2400)
    assert down["utilisation"] == pytest.approx(2100 * 8 / (10**9 * 13.1))


def test_a_link_carries_the_flows_to_every_host_behind_it(tmp_path: Path) -> None:
    found = table(tmp_path, [], [flow(1, "h1", 3, "h1"), flow(1, "h9", 4, "h1"), flow(1, "h2", 5, "h2")])
    assert found["flow_packets"].dropna().to_dict() == {("s1", "h1"): 7, ("s1", "h2"): 5}


def test_a_rerouted_flow_counts_on_and_a_new_one_from_nothing(tmp_path: Path) -> None:
    """Open vSwitch keeps a flow's counters when its port changes; deleted and set anew, it begins at 0."""
    way = [(10, "h1"), (16, "h2"), (20, "h2"), (29, "h1")]
    moved = [flow(t, "h9", packets, peer) for t, (packets, peer) in enumerate(way)]
    again = [flow(1, "h1", 6, "h1"), flow(2, "h1", 2, "h1")]
    found = table(tmp_path, [], moved + again)
    assert found["flow_packets"].dropna().to_dict() == {("s1", "h1"): 10 + 9 + 8, ("s1", "h2"): 10}


def test_without_counters_the_columns_are_empty(tmp_path: Path) -> None:
    found = table(tmp_path, [], [])
    assert found.filter(like="counter_").isna().all(axis=None)
    assert found.filter(like="flow_").isna().all(axis=None)
