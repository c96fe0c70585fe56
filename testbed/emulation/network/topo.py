"""A plan's network as Mininet's `Topo` (the other way round is testbed.topology's)."""

from __future__ import annotations

from mininet.topo import Topo

from testbed.emulation.network.wiring import Wiring
from testbed.topology.plan import Network


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
