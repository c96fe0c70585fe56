"""Computed tables against brute force, and the routes on them."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.protocols.ring.converged import NOBODY, Converged, TwoWithOneId
from broker_grpc.protocols.ring.identifiers import SPAN, Member, digit, shared_digits
from broker_grpc.protocols.ring.prefix import slot_number
from broker_grpc.protocols.ring.settings import RingSettings
from tests.ring.memberships import NAMES, SETTINGS, anywhere, crowded, ids, members, responsible, successor

RINGS = pytest.mark.parametrize("ring", SETTINGS, ids=NAMES)


@given(ids)
def test_a_chord_finger_is_the_successor_of_id_plus_a_power_of_two(found: set[int]) -> None:
    """Stoica et al., section 4.3: the ith entry is the first node that succeeds n by at least 2^(i-1)."""
    of = members(found)
    ring = Converged(of, RingSettings(kind="chord"))
    for me in of:
        tables = ring.tables(me.broker)
        fingers = {successor(of, (me.id + (1 << i)) % SPAN) for i in range(64)} - {me}
        assert {one for entry in tables.entries.values() for one in entry} == fingers
        assert tables.successor == successor(of, (me.id + 1) % SPAN)


@RINGS
@given(ids)
@settings(max_examples=30)
def test_a_slot_has_the_first_members_of_its_stretch(ring: RingSettings, found: set[int]) -> None:
    of = members(found)
    converged = Converged(of, ring)
    for me in of[:5]:
        tables = converged.tables(me.broker)
        for number, slot in enumerate(converged.geometry.slots(me.id)):
            inside = sorted(
                (one for one in of if slot.holds(one.id)), key=lambda one: (one.id - slot.start) % SPAN
            )
            kept = 1 + ring.backups if ring.kind == "tapestry" else 1
            assert tables.entries.get(number, ()) == tuple(inside[:kept])


@RINGS
@given(ids, st.lists(anywhere | crowded, min_size=1, max_size=10))
@settings(max_examples=40)
def test_every_route_ends_at_the_one_responsible_broker(
    ring: RingSettings, found: set[int], keys: list[int]
) -> None:
    of = members(found)
    converged = Converged(of, ring)
    for key in (*keys, *(one.id for one in of[:3])):
        root = responsible(of, key, ring)
        assert {converged.route(one.broker, key)[-1] for one in of} == {root.broker}
        for one in of:
            assert converged.geometry.is_responsible(converged.tables(one.broker), key) == (one == root)


@RINGS
def test_depths_are_the_lengths_of_routes(ring: RingSettings) -> None:
    of = members({random.Random(3).getrandbits(64) for _ in range(60)} | {5, 6, 7})
    converged = Converged(of, ring)
    for key in (0, 6, 1 << 63):
        routes = [len(converged.route(one.broker, key)) - 1 for one in of]
        assert converged.depths(key).tolist() == routes
        assert converged.parents(key).tolist().count(NOBODY) == 1


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_prefix_routes_resolve_a_digit_per_hop(bits: int) -> None:
    """Zhao et al., section III: log_b N hops at most, and each shares one digit more with the root."""
    rng = random.Random(bits)
    of = members({rng.getrandbits(64) for _ in range(200)})
    converged = Converged(of, RingSettings(kind="tapestry", base_bits=bits))  # type: ignore[arg-type]
    of_broker = {one.broker: one for one in of}
    for _ in range(20):
        key = rng.getrandbits(64)
        route = [of_broker[name].id for name in converged.route(rng.choice(of).broker, key)]
        shared = [shared_digits(id_, route[-1], bits) for id_ in route]
        assert shared == sorted(set(shared))


def test_chord_takes_half_of_the_binary_logarithm_of_hops() -> None:
    """Stoica et al., section 6.3: about half of log2 N to a broker; the last hop to a key's is one more."""
    rng = random.Random(1)
    of = members({rng.getrandbits(64) for _ in range(512)})
    converged = Converged(of, RingSettings(kind="chord"))
    to_brokers = sum(converged.depths(rng.choice(of).id).mean() for _ in range(20)) / 20
    to_keys = sum(converged.depths(rng.getrandbits(64)).mean() for _ in range(20)) / 20
    assert to_brokers == pytest.approx(math.log2(512) / 2, rel=0.1)
    assert to_keys == pytest.approx(math.log2(512) / 2 + 1, rel=0.1)


def test_pastry_takes_less_than_the_logarithm_in_its_base() -> None:
    """Rowstron and Druschel, section 2.3: expected log_(2^b) N."""
    rng = random.Random(1)
    of = members({rng.getrandbits(64) for _ in range(512)})
    converged = Converged(of, RingSettings(kind="pastry"))
    mean = sum(converged.depths(rng.getrandbits(64)).mean() for _ in range(20)) / 20
    assert 1 < mean <= math.log2(512) / 4


def test_an_empty_column_is_taken_by_the_next_higher_digit_cyclically() -> None:
    """A surrogate: the key begins with d; digits 2 and 7 exist, so 2 follows f."""
    of = [Member(0x2000 << 48, "two"), Member(0x7000 << 48, "seven")]
    converged = Converged(of, RingSettings(kind="tapestry"))
    assert converged.responsible(0xD000 << 48) == "two"
    assert converged.responsible(0x5000 << 48) == "seven"


def test_with_proximity_the_nearest_candidate_is_the_entry() -> None:
    rng = random.Random(2)
    of = members({rng.getrandbits(64) for _ in range(100)})
    place = {one.broker: rng.random() for one in of}

    def rtt_us(a: str, b: str) -> int:
        return round(1e6 * abs(place[a] - place[b]))

    near = Converged(of, RingSettings(kind="pastry", proximity=True, candidates=100), rtt_us)
    for me in of:
        for number, (entry,) in near.tables(me.broker).entries.items():
            level = number >> 4
            alike = [
                one for one in of
                if one != me and shared_digits(one.id, me.id, 4) == level
                and number == slot_number(level, digit(one.id, level, 4), 4)
            ]  # fmt: skip
            assert rtt_us(me.broker, entry.broker) == min(rtt_us(me.broker, one.broker) for one in alike)


def test_two_brokers_with_one_id_are_named() -> None:
    with pytest.raises(TwoWithOneId, match="'A' and 'B' have the same id 0x0000000000000007"):
        Converged([Member(7, "A"), Member(9, "C"), Member(7, "B")], RingSettings())
