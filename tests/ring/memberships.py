"""Rings for tests: members, and slow, obvious answers about them."""

from __future__ import annotations

from hypothesis import strategies as st

from broker_grpc.protocols.ring.identifiers import SPAN, Member, apart, digit, digits_of
from broker_grpc.protocols.ring.settings import RingSettings

SETTINGS = [
    RingSettings(kind="chord"),
    RingSettings(kind="chord", successors=2),
    *(RingSettings(kind="pastry", base_bits=bits, leaves=4) for bits in (1, 2, 4, 8)),
    *(RingSettings(kind="tapestry", base_bits=bits) for bits in (1, 2, 4, 8)),
]
NAMES = [f"{one.kind}-{one.base_bits}" for one in SETTINGS]

anywhere = st.integers(0, SPAN - 1)
crowded = st.integers(-40, 40).map(lambda near: near % SPAN)  # around 0, where all wraps
ids = st.sets(anywhere | crowded, min_size=1, max_size=40)


def members(found: set[int]) -> list[Member]:
    return [Member(id_, f"B{number}") for number, id_ in enumerate(sorted(found), 1)]


def successor(of: list[Member], key: int) -> Member:
    return min(of, key=lambda member: (member.id - key) % SPAN)


def numerically_closest(of: list[Member], key: int) -> Member:
    return min(of, key=lambda member: (apart(member.id, key), member.id))


def surrogate_root(of: list[Member], key: int, base_bits: int) -> Member:
    left = of
    for level in range(digits_of(base_bits)):
        wanted, base = digit(key, level, base_bits), 1 << base_bits
        nearest = min((digit(one.id, level, base_bits) - wanted) % base for one in left)
        left = [one for one in left if (digit(one.id, level, base_bits) - wanted) % base == nearest]
    assert len(left) == 1
    return left[0]


def responsible(of: list[Member], key: int, settings: RingSettings) -> Member:
    match settings.kind:
        case "chord":
            return successor(of, key)
        case "pastry":
            return numerically_closest(of, key)
        case "tapestry":
            return surrogate_root(of, key, settings.base_bits)
