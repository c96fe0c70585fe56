"""Joins, leaves and crashes in any order: after quiet every table is the computed one."""

from __future__ import annotations

import random

import pytest

from broker_grpc.protocols.ring.settings import RingSettings
from tests.ring.ring_network import QUICK, RingNetwork

KINDS = [
    RingSettings(kind="chord", successors=3, **QUICK),  # type: ignore[arg-type]
    RingSettings(kind="pastry", leaves=6, **QUICK),  # type: ignore[arg-type]
    RingSettings(kind="tapestry", successors=3, base_bits=2, **QUICK),  # type: ignore[arg-type]
]
RINGS = pytest.mark.parametrize("settings", KINDS, ids=[one.kind for one in KINDS])


def network(settings: RingSettings, count: int, seed: int = 1) -> RingNetwork:
    rng = random.Random(seed)
    return RingNetwork(settings, {f"B{number}": rng.getrandbits(64) for number in range(1, count + 1)}, seed)


def built(settings: RingSettings, count: int, seed: int = 1) -> RingNetwork:
    net = network(settings, count, seed)
    net.start("B1")
    for number in range(2, count + 1):
        net.start(f"B{number}", ["B1"])
        net.settle()
    net.until_converged()
    return net


def check_keys(net: RingNetwork) -> None:
    """Each key has exactly one responsible broker, and every route ends there."""
    rng = random.Random(5)
    for _ in range(20):
        key = rng.getrandbits(64)
        ends = set()
        for name in sorted(net.nodes):
            at, hops = name, 0
            while (onward := net.ring(at).next_hop(key)) is not None:
                at, hops = onward, hops + 1
                assert hops < 64
            ends.add(at)
        assert len(ends) == 1


@RINGS
def test_brokers_join_one_after_the_other(settings: RingSettings) -> None:
    net = built(settings, 16)
    check_keys(net)


@RINGS
def test_all_join_at_once(settings: RingSettings) -> None:
    net = network(settings, 16)
    net.start("B1")
    for number in range(2, 17):
        net.start(f"B{number}", ["B1"])
    net.until_converged()
    check_keys(net)


@RINGS
def test_neighbours_crash_together(settings: RingSettings) -> None:
    net = built(settings, 16)
    order = [member.broker for member in net.members()]
    for name in order[5:7]:
        net.crash(name)
    net.until_converged()
    check_keys(net)


@RINGS
def test_a_broker_leaves(settings: RingSettings) -> None:
    net = built(settings, 16)
    net.stop("B7")
    net.until_converged()


@RINGS
def test_half_of_the_leaf_set_is_killed(settings: RingSettings) -> None:
    """One side of it but one: while a neighbour is left on a side the ring holds together."""
    net = built(settings, 16)
    tables = net.ring("B1").tables
    for member in [*tables.successors[: settings.side - 1], tables.predecessors[0]]:
        if member.broker in net.nodes:
            net.crash(member.broker)
    net.until_converged()
    check_keys(net)


@RINGS
def test_a_joiner_whose_contact_dies_takes_the_next(settings: RingSettings) -> None:
    net = built(settings, 8)
    net.ids["late"] = 12345
    net.addresses["late"] = "late:1"
    net.crash("B3")
    net.start("late", ["B3", "B4"])
    net.until_converged()
    assert "late" in net.nodes


@RINGS
def test_a_partition_heals(settings: RingSettings) -> None:
    net = built(settings, 16)
    names = sorted(net.nodes)
    net.part(names[:8], names[8:])
    net.run(20)
    assert net.ring(names[0]).tables.successor.broker in names[:8]
    net.cut.clear()
    net.until_converged(300)
    check_keys(net)


@RINGS
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_random_churn(settings: RingSettings, seed: int) -> None:
    rng = random.Random(seed)
    net = built(settings, 12, seed)
    spare = []
    for _ in range(12):
        step = rng.random()
        names = sorted(net.nodes)
        if step < 0.4 and len(names) > 6:
            spare.append(rng.choice(names))
            net.crash(spare[-1])
        elif step < 0.6 and len(names) > 6:
            spare.append(rng.choice(names))
            net.stop(spare[-1])
        elif spare:
            net.start(spare.pop(), names)
        else:
            name = f"N{rng.getrandbits(32)}"
            net.ids[name], net.addresses[name] = rng.getrandbits(64), f"{name}:1"
            net.start(name, names)
        net.run(rng.randrange(4))
    net.until_converged(200)
    check_keys(net)


@RINGS
def test_a_broker_takes_another_id(settings: RingSettings) -> None:
    net = built(settings, 10)
    net.renumber("B4", 777)
    net.until_converged()
    assert net.ring("B4").me.id == 777


@RINGS
def test_of_two_with_one_id_one_takes_another(settings: RingSettings) -> None:
    net = built(settings, 6)
    net.ids["twin"] = net.ids["B2"]
    net.addresses["twin"] = "twin:1"
    net.start("twin", ["B1"])
    net.until_converged()
    assert net.ring("twin").me.id != net.ids["B2"]
    assert any("B2's" in event.detail for event in net.events("REFUSED"))
