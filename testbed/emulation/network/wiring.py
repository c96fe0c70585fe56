"""Which interface each end of a planned link becomes: names, numbers, MAC addresses. Pure.

Everything is derived from the plan's order, so two runs of one plan have the same interfaces. Names follow
Mininet (`h1-eth0`) and fall back to a short form where the kernel's 15 characters do not suffice.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from testbed.emulation.network.errors import NetworkError
from testbed.topology.plan import Network, Node

NAME_LIMIT = 15
FIRST_HOST_INDEX = 10  # interface numbers inside a host; 1 is its loopback
FIRST_SWITCH_INDEX = 1000  # all switches share one namespace, where Open vSwitch numbers its own from 2


@dataclass(frozen=True, slots=True)
class Interface:
    node: str
    port: int
    name: str
    index: int
    mac: str
    link: str
    peer: str


@dataclass(frozen=True)
class Wiring:
    nodes: dict[str, Node]
    ends: dict[str, tuple[Interface, Interface]] = field(default_factory=dict)  # by link: at a, at b
    of_node: dict[str, list[Interface]] = field(default_factory=dict)

    def hosts(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.kind == "host"]

    def switches(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.kind == "switch"]

    def end(self, link: str, node: str) -> Interface:
        return next(end for end in self.ends[link] if end.node == node)


def wire(network: Network) -> Wiring:
    """Plan every interface; a link to an unknown node or a name that cannot be made unique is an error."""
    wiring = Wiring({node.id: node for node in network.nodes})
    number = {node.id: place for place, node in enumerate(network.nodes)}
    taken: set[str] = {node.id for node in network.nodes if node.kind == "switch"}
    wiring.of_node.update({node.id: [] for node in network.nodes})
    count = 0
    for link in network.links:
        ends = []
        for node_id, peer in ((link.a, link.b), (link.b, link.a)):
            if node_id not in wiring.nodes:
                raise NetworkError(f"link {link.id!r} ends at {node_id!r}, which is no node of the network")
            count += 1
            interface = _interface(wiring, node_id, number[node_id], link.id, peer, count)
            if interface.name in taken:
                raise NetworkError(f"two interfaces would be called {interface.name!r}", hint="rename a node")
            taken.add(interface.name)
            wiring.of_node[node_id].append(interface)
            ends.append(interface)
        wiring.ends[link.id] = (ends[0], ends[1])
    return wiring


def _interface(wiring: Wiring, node_id: str, place: int, link: str, peer: str, count: int) -> Interface:
    is_switch = wiring.nodes[node_id].kind == "switch"
    port = len(wiring.of_node[node_id]) + (1 if is_switch else 0)
    name = f"{node_id}-eth{port}"
    if len(name) > NAME_LIMIT:
        name = f"n{place}-eth{port}"
    index = FIRST_SWITCH_INDEX + count if is_switch else FIRST_HOST_INDEX + port
    mac = "02:00:" + ":".join(f"{byte:02x}" for byte in count.to_bytes(4, "big"))
    return Interface(node_id, port, name, index, mac, link, peer)
