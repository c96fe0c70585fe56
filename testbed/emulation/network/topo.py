"""Between Mininet's `Topo` and a plan's network, both ways."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from mininet.topo import Topo

from testbed.emulation.network.links import link_options
from testbed.emulation.network.wiring import Wiring
from testbed.errors import InputError
from testbed.topology.plan import Link, Network, Node


class PlanTopo(Topo):  # type: ignore[misc]
    """A plan's network as a Mininet topology: same names, same order."""

    def build(self, network: Network, wiring: Wiring, dpids: dict[str, int]) -> None:
        for node in network.nodes:
            if node.kind == "switch":
                self.addSwitch(node.id, dpid=f"{dpids[node.id]:016x}")
            else:
                self.addHost(node.id, ip=node.address or None)
        for link in network.links:
            one, other = wiring.ends[link.id]
            ports = {"port1": one.port, "port2": other.port, "intfName1": one.name, "intfName2": other.name}
            self.addLink(link.a, link.b, key=link.id, addr1=one.mac, addr2=other.mac, planned=link, **ports)


def import_topo(reference: str, folder: Path | None = None) -> Network:
    """`module:Topo` (a Topo class, or a function that makes one) as a network.

    `folder`, when given, is searched first: the folder of the topology file. Host addresses are the Topo's
    `ip` options or, as in Mininet, 10.0.0.1 and up in natural order of the names.
    """
    topo = _load(reference, folder)
    nodes = [_host(topo, name, place) for place, name in enumerate(topo.hosts(), 1)]
    nodes += [Node(id=name, kind="switch") for name in topo.switches()]
    links = []
    seen: dict[str, int] = {}
    for one, other, info in topo.links(sort=True, withInfo=True):
        name = f"{one}-{other}"
        seen[name] = seen.get(name, 0) + 1
        identity = name if seen[name] == 1 else f"{name}-{seen[name]}"
        links.append(Link(id=identity, a=one, b=other, **link_options(info)))
    return Network(nodes=nodes, links=links, mininet=reference)


def _host(topo: Any, name: str, place: int) -> Node:
    given = topo.nodeInfo(name).get("ip")
    low = f"10.{place >> 16 & 255}.{place >> 8 & 255}.{place & 255}"
    return Node(id=name, kind="host", address=str(given).split("/")[0] if given else low)


def _load(reference: str, folder: Path | None) -> Any:
    module_name, _, attribute = reference.partition(":")
    if not attribute:
        raise InputError(f"{reference!r} names no Topo", hint='write network: {mininet: "module:Topo"}')
    added = [str(folder)] if folder is not None else []
    sys.path[:0] = added
    try:
        made = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as problem:
        raise InputError(f"cannot load the Mininet Topo {reference!r}: {problem}") from problem
    finally:
        del sys.path[: len(added)]
    topo = made() if callable(made) else made
    if not isinstance(topo, Topo):
        raise InputError(f"{reference!r} is no mininet.topo.Topo but a {type(topo).__name__}")
    return topo
