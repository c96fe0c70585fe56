"""Is the network up, and shaped? One echo from every host to the next, before anything else runs."""

from __future__ import annotations

from testbed.emulation.network.echo import round_trips_us
from testbed.emulation.network.errors import NetworkError
from testbed.emulation.network.fabric import Fabric
from testbed.topology.plan import Node

ATTEMPTS = 8  # links may lose packets
ROUNDING = 0.999  # clocks and microseconds are rounded


def verify(fabric: Fabric) -> None:
    """Raises when a host cannot be reached, or is reached faster than planned: then it is not shaped."""
    planned = {pair: fabric.rtt_us(*pair) for pair in _ring(fabric)}
    expected = {pair: rtt for pair, rtt in planned.items() if rtt is not None}
    pairs = [(one, other, fabric.wiring.nodes[other].address) for one, other in expected]
    seconds = 2 * max(expected.values(), default=0) / 1_000_000 + 2
    measured = round_trips_us(fabric.namespaces, pairs, seconds=seconds, attempts=ATTEMPTS)
    for (one, other), wanted in expected.items():
        got = measured.get((one, other))
        if got is None:
            hint = "see logs/controller.log in the run folder"
            raise NetworkError(f"no packet gets from {one} to {other}", hint=hint)
        if got < (wanted - 2 * _jitter_us(fabric, one, other)) * ROUNDING - 1:
            raise NetworkError(f"{one} to {other} takes {got:.0f} us, {wanted} us are planned: not shaped")


def _ring(fabric: Fabric) -> list[tuple[str, str]]:
    """Hosts of one switch beside each other: every host and switch is met, and few paths are long."""
    wiring = fabric.wiring
    place = {node: number for number, node in enumerate(wiring.nodes)}

    def switch_of(host: Node) -> int:
        return place[wiring.of_node[host.id][0].peer]

    hosts = sorted((host for host in wiring.hosts() if wiring.of_node[host.id]), key=switch_of)
    following = zip(hosts, hosts[1:] + hosts[:1], strict=True)
    return [(one.id, other.id) for one, other in following if one is not other]


def _jitter_us(fabric: Fabric, one: str, other: str) -> int:
    pairs = [*fabric.pairs.get(one, []), *fabric.pairs.get(other, [])]
    on_pair = sum(pair.jitter_us for pair in pairs if {pair.a, pair.b} == {one, other})
    return on_pair + sum(link.jitter_us for link in fabric.path_links(one, other) or [])
