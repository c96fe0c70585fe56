"""Scribe brokers as real processes on loopback: `testbed pub` and `sub` on a topic.

Their ring stands still: one that keeps itself has patiences, and a busy machine could make brokers suspect
each other. It is tried in virtual time (`tests/parity`, scribe-killed).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker_process.broker_nodes import BrokerNode
from tests.cli.test_pub_sub import PATIENCE_S, testbed

NAMES = ("B1", "B2", "B3")
ALGORITHM = {"name": "scribe", "ring": {"bootstrap": "converged", "maintain": False}}


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[dict[str, BrokerNode]]:
    made = {name: BrokerNode(tmp_path, name, flood=False) for name in NAMES}
    book = {name: one.address for name, one in made.items()}
    for one in made.values():
        one.config |= {"address_book": book, "algorithm": ALGORITHM}
        one.start()
    yield made
    for one in made.values():
        one.stop()


async def test_what_is_published_at_one_broker_is_heard_at_another(nodes: dict[str, BrokerNode]) -> None:
    for one in nodes.values():
        await one.wait_for(settled=True)
    reader = testbed("sub", nodes["B1"].address, "[class,eq,'news']", "--count", "1", "--id", "reader")
    assert reader.stderr is not None
    assert reader.stderr.readline().startswith("subscribed at 127.0.0.1:")
    # The subscription is acknowledged when the broker has it; its place in the tree may still be on the way.
    while reader.poll() is None:
        writer = testbed("pub", nodes["B3"].address, "--id", "writer")
        assert "published 1" in writer.communicate("[class,'news']\n", timeout=PATIENCE_S)[1]
    assert reader.communicate(timeout=PATIENCE_S)[0] == "[class,'news']\n"
