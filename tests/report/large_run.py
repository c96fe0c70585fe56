"""A made-up run of 127 brokers: the size of the largest page, without the hours of such a run."""

from __future__ import annotations

import random
from pathlib import Path

import pandas

from protos.records import Fidelity, Manifest
from testbed.run.folder import RunFolder
from testbed.topology.load import load_plan_text
from testbed.topology.plan import dump

TOPOLOGY = """
name: large
seed: 1
duration: 600s
network:
  {generator: transit_stub, transit_domains: 2, transit_nodes: 4, stubs_per_transit_node: 2, stub_nodes: 8}
brokers:
  B: {count: 127, place: random}
overlay: {generator: tree, fanout: 2}
clients:
  sub: {kind: subscriber, count: 400, broker: random, subscribe: ["[class,eq,'STOCK']"]}
  pub:
    kind: publisher
    count: 40
    broker: random
    publish: {source: stock, parameters: {symbol: IBM}, rate: 60/min}
"""
DELIVERIES = 100_000
SECONDS = 600


def large_run(path: Path) -> Path:
    folder = RunFolder(path)
    folder.create()
    folder.tables.mkdir()
    plan = load_plan_text(TOPOLOGY)
    folder.plan.write_bytes(dump(plan))
    folder.write_manifest(
        Manifest(
            run="large", name="large", engine="guest", clock="virtual", status="done", last_us=SECONDS * 10**6
        )
    )
    folder.write_fidelity(Fidelity(verdict="pass", probes=1000))
    for name, frame in tables([b.id for b in plan.brokers], random.Random(1)).items():
        frame.to_parquet(folder.tables / f"{name}.parquet", index=False)
    return path


def tables(brokers: list[str], draw: random.Random) -> dict[str, pandas.DataFrame]:
    return {
        "deliveries": deliveries(draw),
        "hop_distribution": pandas.DataFrame(
            {"measure": "overlay", "hops": range(13), "count": 1, "share": 1 / 13}
        ),
        "delay": pandas.DataFrame(
            {
                "group_by": "broker",
                "group": brokers,
                "count": 100,
                "mean_us": [draw.random() for _ in brokers],
            }
        ),
        "load": pandas.DataFrame(
            [
                {"broker": b, "window_s": w, "received_per_s": draw.uniform(0, 50)}
                for b in brokers
                for w in range(0, SECONDS, 10)
            ]
        ),
        "links": pandas.DataFrame(
            [
                {
                    "link": f"l{i}",
                    "source": f"s{i}",
                    "target": f"s{i + 1}",
                    "pcap_bytes": draw.randrange(10**6),
                }
                for i in range(700)
            ]
        ).assign(counter_bytes=float("nan")),
    }


def deliveries(draw: random.Random) -> pandas.DataFrame:
    at = [draw.randrange(SECONDS * 10**6) for _ in range(DELIVERIES)]
    return pandas.DataFrame(
        {
            "delivered_us": at,
            "delay_us": [draw.lognormvariate(11, 0.5) for _ in at],
            "group": [draw.choice(("near", "far")) for _ in at],
        }
    )
