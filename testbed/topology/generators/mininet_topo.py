"""A Mininet `Topo` class of the user's as network: asked for its hosts, switches and links.

Nothing of Mininet is imported here: the class brings what it needs, and is only asked the questions that
every `Topo` answers.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from testbed.topology.file.quantities import LATENCY, BadQuantity, parse
from testbed.topology.file.schema.network import MininetNetwork
from testbed.topology.generators.graph import Graph
from testbed.topology.plan import Link, Node
from testbed.topology.resolve.report import Report

PLACE = ("network", "mininet")


def mininet_graph(spec: MininetNetwork, folder: Path, report: Report) -> Graph:
    """The class's nodes and links; modules beside the topology file can be imported."""
    module, _, name = spec.mininet.partition(":")
    sys.path.insert(0, str(folder.resolve()))
    try:
        topo = getattr(importlib.import_module(module), name)()
    except Exception as error:  # whatever the user's module does wrong is a problem of the file
        hint = "the module must be importable from the file's folder, the class without arguments"
        report.add(PLACE, f"cannot make {spec.mininet}: {type(error).__name__}: {error}", hint)
        return Graph()
    finally:
        sys.path.pop(0)
    return _graph(topo, report)


def _graph(topo: Any, report: Report) -> Graph:
    graph = Graph()
    for id in topo.switches():
        graph.nodes.append(Node(id, "switch"))
    for id in topo.hosts():
        address = str(topo.nodeInfo(id).get("ip") or "").partition("/")[0]
        graph.nodes.append(Node(id, "host", address))
        graph.sites.append(id)
    for a, b, info in topo.links(sort=True, withInfo=True):
        graph.links.append(_link(a, b, info, report))
    if not graph.sites:
        graph.sites = [node.id for node in graph.nodes]
    return graph


def _link(a: str, b: str, info: dict[str, Any], report: Report) -> Link:
    """Mininet's link options: delay and jitter with units, loss in per cent, bw in Mbit/s."""

    def time_us(key: str) -> int:
        try:
            return int(parse(info.get(key) or 0, LATENCY))
        except BadQuantity as error:
            report.add(PLACE, f"link {a}-{b}: {key}: {error}")
            return 0

    return Link(
        id=f"{a}-{b}",
        a=a,
        b=b,
        latency_us=time_us("delay"),
        jitter_us=time_us("jitter"),
        loss=float(info.get("loss") or 0) / 100,
        bandwidth_bps=round(float(info.get("bw") or 0) * 1_000_000),
        queue_packets=int(info.get("max_queue_size") or 0),
    )
