"""Next hops and routes of a whole ring at once, against those asked one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.protocols.ring.converged import NOBODY, Converged
from broker_grpc.protocols.ring.identifiers import SPAN, Member
from broker_grpc.protocols.ring.next_hops import next_hops, top_down_parents
from broker_grpc.protocols.ring.settings import Kind, RingSettings

IDS = st.lists(st.integers(0, SPAN - 1), min_size=1, max_size=12, unique=True)


@pytest.mark.parametrize(("kind", "base_bits"), [("chord", 4), ("tapestry", 1), ("tapestry", 4)])
@given(ids=IDS)
@settings(max_examples=60, deadline=None)
def test_they_are_those_asked_one_by_one(kind: Kind, base_bits: int, ids: list[int]) -> None:
    members = [Member(one, f"B{at}") for at, one in enumerate(ids)]
    ring = Converged(members, RingSettings(kind=kind, base_bits=base_bits))
    hops = next_hops(ring)
    for u, member in enumerate(ring.members):
        for v, target in enumerate(ring.members):
            expected = ring.next_hop(member.broker, target.id)
            assert ring.members[hops[u, v]].broker == (expected or member.broker)
    root = len(members) // 2
    parents = top_down_parents(hops, root)
    for v, target in enumerate(ring.members):
        route = ring.route(ring.members[root].broker, target.id)
        assert parents[v] == (NOBODY if v == root else [m.broker for m in ring.members].index(route[-2]))
    assert np.count_nonzero(parents == NOBODY) == 1
