"""The network as the kernel has it: namespaces, veth pairs, addresses, static ARP, shapes.

Holds one netlink socket per namespace, so that building is a few batches and changing a link at run time is
one request. Knows nothing of Open vSwitch, Mininet or the controller.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from testbed.emulation.controller.routes import NextLinks, next_links, path_links
from testbed.emulation.network import namespaces, offloads, rtnl, tc
from testbed.emulation.network.created import Record
from testbed.emulation.network.netlink import Netlink, Request
from testbed.emulation.network.wiring import Interface, Wiring
from testbed.run.shape import UNLIMITED_BYTES_PER_SECOND, of_link, of_pair
from testbed.topology.plan import Link, Network, PairLatency

SWITCHES = "switches"  # the namespace all bridges of a run live in


class Fabric:
    def __init__(self, network: Network, wiring: Wiring, seed: int, token: str, record: Record) -> None:
        self.wiring = wiring
        self.network = network
        self.links: dict[str, Link] = {link.id: link for link in network.links}
        self.down: set[str] = set()
        self.pairs: dict[str, list[PairLatency]] = {}
        for pair in network.pairs:
            self.pairs.setdefault(pair.a, []).append(pair)
        self._seed = seed
        self._record = record
        self._sockets: dict[str, Netlink] = {}
        self._partitioned: list[Interface] = []
        self._tables: tuple[frozenset[str], NextLinks] | None = None
        names = [SWITCHES, *(host.id for host in wiring.hosts())]
        self.namespaces: dict[str, Path] = {name: namespaces.FOLDER / f"{token}-{name}" for name in names}
        self._multi_homed = [host.id for host in wiring.hosts() if len(wiring.of_node[host.id]) > 1]
        self.prefix = _common_prefix([host.address for host in wiring.hosts()])

    # Building

    def create_namespaces(self) -> None:
        self._record.namespaces(list(self.namespaces.values()))
        namespaces.create([path.name for path in self.namespaces.values()])
        with namespaces.staying_home():
            for name, kept in self.namespaces.items():
                namespaces.enter(kept)
                _quieten()
                self._sockets[name] = Netlink()
                self._sockets[name].send([rtnl.set_up(rtnl.LOOPBACK, True, "lo")])

    def create_links(self) -> None:
        """All veth pairs, both ends in place, then the hosts' ends configured; bridges come after this."""
        descriptors = {
            name: os.open(kept, os.O_RDONLY | os.O_CLOEXEC) for name, kept in self.namespaces.items()
        }
        try:
            self._sockets[SWITCHES].send(
                rtnl.veth(self._end(one, descriptors), self._end(other, descriptors))
                for one, other in self.wiring.ends.values()
            )
            self._sockets[SWITCHES].send(self._switch_ends_up())
        finally:
            for descriptor in descriptors.values():
                os.close(descriptor)

    def _switch_ends_up(self) -> Iterator[Request]:
        """Before the bridges take them: each port that comes up later makes the controller think again."""
        for node in self.wiring.switches():
            for end in self.wiring.of_node[node.id]:
                yield rtnl.set_up(end.index, True, end.name)

    def configure_hosts(self) -> None:
        """Addresses, routes, static ARP and shapes of every host; segmentation offloads off."""
        tables = self.tables()
        with namespaces.staying_home():
            for host in self.wiring.hosts():
                interfaces = self.wiring.of_node[host.id]
                namespaces.enter(self.namespaces[host.id])
                offloads.switch_off(interface.name for interface in interfaces)
                self._sockets[host.id].send(self._host_requests(host.id, tables))
                self._sockets[host.id].send(self._shapes_of(interfaces, tables))

    def shape_switches(self) -> None:
        """After the bridges have their ports: Open vSwitch clears the queueing of a port it takes."""
        ends = [end for node in self.wiring.switches() for end in self.wiring.of_node[node.id]]
        with namespaces.staying_home():
            namespaces.enter(self.namespaces[SWITCHES])
            offloads.switch_off(end.name for end in ends)
        self._sockets[SWITCHES].send(self._shapes_of(ends, {}))

    def _end(self, end: Interface, descriptors: dict[str, int]) -> rtnl.End:
        return rtnl.End(end.name, end.index, end.mac, descriptors[self._place(end.node)])

    def _place(self, node: str) -> str:
        return node if self.wiring.nodes[node].kind == "host" else SWITCHES

    def socket_of(self, node: str) -> Netlink:
        return self._sockets[self._place(node)]

    # Addresses and routes

    def _host_requests(self, host: str, tables: NextLinks) -> Iterator[Request]:
        interfaces = self.wiring.of_node[host]
        routed = len(interfaces) > 1 or not self.prefix
        own = self.wiring.nodes[host].address
        for interface in interfaces:
            yield rtnl.set_up(interface.index, True, interface.name)
            yield rtnl.address(interface.index, own, 32 if routed else self.prefix)
        for other in self.wiring.hosts():
            link = tables[host].get(other.id)
            if other.id == host:
                continue
            if link is None:
                if routed:
                    yield rtnl.no_host_route(other.address)
                continue
            out = self.wiring.end(link, host)
            if routed:
                yield rtnl.host_route(out.index, other.address)
            yield rtnl.neighbour(out.index, other.address, self._arrival_mac(host, other.id, tables))

    def _arrival_mac(self, host: str, target: str, tables: NextLinks) -> str:
        """Of the interface by which the target is reached."""
        ends = self.wiring.of_node[target]
        if len(ends) == 1:
            return ends[0].mac
        last = (path_links(self.network, tables, host, target) or [""])[-1]
        return self.wiring.end(last, target).mac

    def follow_routes(self) -> None:
        """After a link went or came: hosts with several interfaces, and those that talk to them, adapt."""
        if not self._multi_homed:
            return
        tables = self.tables()
        for host in self.wiring.hosts():
            self._sockets[host.id].send(self._host_requests(host.id, tables))

    # Shapes

    def _shapes_of(self, ends: Iterable[Interface], tables: NextLinks) -> Iterator[Request]:
        for end in ends:
            yield from self._shape(end, tables)

    def _shape(self, end: Interface, tables: NextLinks, *, replace: bool = False) -> Iterator[Request]:
        link = self.links[end.link]
        chosen = [pair for pair in self.pairs.get(end.node, []) if tables[end.node].get(pair.b) == link.id]
        if chosen:
            shapes = [(self.wiring.nodes[pair.b].address, of_pair(link, pair, self._seed)) for pair in chosen]
            rate = link.bandwidth_bps // 8 if link.bandwidth_bps else UNLIMITED_BYTES_PER_SECOND
            yield from tc.per_destination(end.index, shapes, rate)
        elif link.latency_us or link.jitter_us or link.loss or link.bandwidth_bps or replace:
            yield tc.netem(end.index, of_link(link, end.node, self._seed))

    def reshape(self, link_id: str, ends: Iterable[Interface] | None = None) -> None:
        """Give the ends of a link the shape that `links` now says."""
        tables = self.tables()
        for end in ends or self.wiring.ends[link_id]:
            self.socket_of(end.node).send(self._shape(end, tables, replace=True))

    def reshape_pairs(self, latencies: Iterable[tuple[str, str, int]]) -> None:
        """Jitter and loss of the pairs stay."""
        wanted = {(a, b): latency_us for a, b, latency_us in latencies}
        for host, pairs in self.pairs.items():
            self.pairs[host] = [
                msgspec.structs.replace(pair, latency_us=wanted.get((pair.a, pair.b), pair.latency_us))
                for pair in pairs
            ]
            for end in self.wiring.of_node[host]:
                self.reshape(end.link, [end])

    def change(self, link_id: str, **fields: int | float) -> None:
        self.links[link_id] = msgspec.structs.replace(self.links[link_id], **fields)

    # Links and partitions at run time

    def set_link(self, link_id: str, up: bool) -> None:
        """Cut or mend the cable: one end is set down, so that the other loses its carrier.

        The end at a switch is taken where there is one, because a host's end would forget its addresses.
        """
        one, other = self.wiring.ends[link_id]
        end = other if self.wiring.nodes[other.node].kind == "switch" else one
        self.socket_of(end.node).send([rtnl.set_up(end.index, up, end.name)])
        (self.down.discard if up else self.down.add)(link_id)
        self.follow_routes()

    def partition(self, hosts: set[str]) -> None:
        """Nothing passes any more between these hosts and all others; each side goes on working."""
        for host in self.wiring.hosts():
            others = [
                other.address for other in self.wiring.hosts() if (other.id in hosts) != (host.id in hosts)
            ]
            for interface in self.wiring.of_node[host.id]:
                self._sockets[host.id].send(tc.drop_from(interface.index, others))
                self._partitioned.append(interface)

    def heal(self) -> None:
        for interface in self._partitioned:
            self._sockets[interface.node].send([tc.drop_nothing(interface.index)])
        self._partitioned.clear()

    def path_links(self, source: str, target: str) -> list[Link] | None:
        """The links a packet takes now, or None when there is no way."""
        links = path_links(self.network, self.tables(), source, target)
        return None if links is None else [self.links[link] for link in links]

    def latency_us(self, source: str, target: str) -> int | None:
        """One way, over the links that are up and their present latencies; None when there is no way."""
        links = self.path_links(source, target)
        if links is None:
            return None
        pair = sum(pair.latency_us for pair in self.pairs.get(source, []) if pair.b == target)
        return sum(link.latency_us for link in links) + pair

    def rtt_us(self, one: str, other: str) -> int | None:
        there, back = self.latency_us(one, other), self.latency_us(other, one)
        return None if there is None or back is None else there + back

    def tables(self) -> NextLinks:
        """Present routes; computed once per state of the links."""
        state = frozenset(self.down)
        if self._tables is None or self._tables[0] != state:
            self._tables = (state, next_links(self.network, state))
        return self._tables[1]

    # The end

    def place(self, node: str) -> Path:
        """Where the node's network namespace is kept."""
        return self.namespaces[self._place(node)]

    def remove(self) -> None:
        for socket in self._sockets.values():
            socket.close()
        self._sockets.clear()
        for kept in self.namespaces.values():
            namespaces.remove(kept)


def _quieten() -> None:
    """No IPv6 chatter on links made from now on in the namespace the caller is in."""
    option = Path("/proc/sys/net/ipv6/conf/default/disable_ipv6")
    if option.exists():
        option.write_text("1")


def _common_prefix(addresses: list[str]) -> int:
    """8 when all hosts share the first octet, as Mininet's do; 0 = route each host on its own."""
    return 8 if len({address.split(".")[0] for address in addresses}) == 1 else 0
