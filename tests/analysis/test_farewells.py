"""What processes say when they stop counts nowhere; in a simulation they do so in the instant of the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Options
from testbed.run.fidelity import read_events
from testbed.simulation.engine import SimulateEngine
from testbed.topology.load import load_plan_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FILE = """
name: farewells
seed: 1
duration: 5s
network: {generator: chain, nodes: 2, link: {latency: 10ms}}
brokers:
  B: {count: 2, place: one_per_node}
overlay: {generator: chain}
clients:
  pub: {kind: publisher, broker: B1, publish: {source: stock, rate: 2/s, parameters: {symbol: YHOO}}}
  near: {kind: subscriber, broker: B2, subscribe: ["[class,eq,'STOCK']"]}
"""


def test_farewells_of_a_simulation_are_not_counted(spark: SparkSession, tmp_path: Path) -> None:
    """Clients are on their brokers' hosts, so their farewells arrive in the instant of the run's end."""
    from testbed.analysis import analyze

    engine = SimulateEngine()
    folder = prepare(load_plan_text(FILE, "farewells.yaml"), None, tmp_path, engine.name, "simulated")
    deploy(folder, engine, Options("simulated"), lambda event: None)
    events = [event for path in folder.events.glob("*.jsonl") for event in read_events(path)]
    ended = next(event.t_us for event in events if event.kind == "RUN_ENDED")
    sent = [e for e in events if e.kind in ("SENT", "FORWARDED", "NOTIFIED") and e.node.startswith("B")]
    assert any(e.t_us == ended and e.type == "unsubscription" for e in sent)
    table = analyze([folder], spark=spark, write=False).frame("overhead")
    counted = table[table["class"] == "all"].log_messages.sum()
    assert counted == sum(e.t_us < ended for e in sent)
    assert not set(table["type"]) & {"unsubscription", "unadvertisement"}
