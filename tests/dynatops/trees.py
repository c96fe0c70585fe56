"""What the trees of a version should be, by brute force: the union of the routes from root to members."""

from __future__ import annotations

from itertools import pairwise

from broker_grpc.protocols.dynatops.configuration import members
from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.identifiers import key_of
from tests.dynatops.field import Field

Edges = set[tuple[str, str]]


def ring_of(field: Field, version: int) -> Converged:
    configuration = next(
        found for name in field.alive() if (found := field.at(name).changing.configurations.get(version))
    )
    return Converged(members(configuration), field.settings.ring)


def route_down(ring: Converged, topic: str, broker: str) -> list[str]:
    """From the rendezvous point to this broker."""
    (id_,) = [member.id for member in ring.members if member.broker == broker]
    return ring.route(ring.responsible(key_of(topic)), id_)


def wanted_edges(field: Field, version: int, topic: str) -> Edges:
    ring = ring_of(field, version)
    edges: Edges = set()
    for name in field.alive():
        if topic in field.at(name).interests.subscribed():
            edges.update(pairwise(route_down(ring, topic, name)))
    return edges


def edges(field: Field, version: int, topic: str) -> Edges:
    """As the parents see it; children must see the same."""
    down: Edges = set()
    up: Edges = set()
    for name in field.alive():
        found = field.at(name).planes[version].trees.table.get(topic)
        if found is not None:
            down.update((name, child) for child in found.children)
            up.update([(found.parent, name)] if found.parent else [])
    assert down == up, f"{topic}: parents say {sorted(down)}, children {sorted(up)}"
    return down


def check_whole(field: Field, topics: str) -> None:
    """All brokers route in one version, hold no other, and its trees are exact."""
    (version,) = {field.at(name).plane for name in field.alive()}
    for name in field.alive():
        broker = field.at(name)
        assert set(broker.planes) == {version}, f"{name} holds {sorted(broker.planes)}"
        assert broker.changing.next is None
        assert broker.settled, name
    assert {tuple(sorted(field.at(n).changing.configurations[version].items())) for n in field.alive()} == {
        tuple(sorted(field.manager.configuration.items()))
    }
    assert field.manager.version == version
    for topic in topics:
        assert edges(field, version, topic) == wanted_edges(field, version, topic), topic
