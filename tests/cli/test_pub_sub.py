"""`testbed pub` and `testbed sub` against a running broker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker_process.broker_nodes import BrokerNode

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerNode]:
    node = BrokerNode(tmp_path, "B1", flood=False).start()
    yield node
    node.stop()


def testbed(*arguments: str, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from testbed.cli import main; main()", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ},
    )


testbed.__test__ = False  # type: ignore[attr-defined]


def test_what_one_publishes_the_other_prints(broker: BrokerNode) -> None:
    text = testbed("sub", broker.address, "[class,eq,'STOCK'],[price,>,10]", "--count", "2", "--wait", "120")
    detail = testbed("sub", broker.address, "[class,eq,'STOCK']", "--count", "1", "--json", "--id", "bob")
    for subscriber in (text, detail):
        assert subscriber.stderr is not None
        assert subscriber.stderr.readline().startswith("subscribed at 127.0.0.1:")
    publisher = testbed("pub", broker.address, "--id", "alice", "--payload", "hello", "--repeat", "2")
    out = publisher.communicate(
        "[class,'STOCK'],[price,18.5]\n[class,'STOCK'],[price,9]\n", timeout=PATIENCE_S
    )
    assert "published 4" in out[1]
    assert text.communicate(timeout=PATIENCE_S)[0] == "[class,'STOCK'],[price,18.5]\n" * 2
    assert text.returncode == 0
    shown = json.loads(detail.communicate(timeout=PATIENCE_S)[0])
    assert (shown["publisher"], shown["payload"], shown["hops"]) == ("alice", "hello", 0)
    assert shown["attributes"] == {"class": "STOCK", "price": 18.5}
    assert 0 < shown["delay_us"] < PATIENCE_S * 1_000_000


def test_too_few_publications_are_code_one(broker: BrokerNode) -> None:
    lonely = testbed("sub", broker.address, "[class,eq,'X']", "--count", "1", "--wait", "0.5")
    _, told = lonely.communicate(timeout=PATIENCE_S)
    assert lonely.returncode == 1
    assert "0 of 1 came, and then none for 0.5 s" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pub", "127.0.0.1", "[class,'X']"], "'127.0.0.1' is no address: it has no port"),
        (["sub", "127.0.0.1:99999", "[class,eq,'X']"], "has no port from 1 to 65535"),
        (["sub", "127.0.0.1:", "[class,eq,'X']"], "has no port from 1 to 65535"),
        (["pub", "127.0.0.1:1", "[class,'X']", "--timeout", "0.5"], "no broker answers"),
        (["sub", "127.0.0.1:1", "[x,>,", "--timeout", "0.5"], "error:"),
        (["sub", "B1", "[class,eq,'X']", "--results", "/nonexistent"], "no deployment is running"),
    ],
)
def test_errors_are_sentences(arguments: list[str], message: str) -> None:
    failed = testbed(*arguments)
    _, error = failed.communicate(timeout=PATIENCE_S)
    assert failed.returncode in (1, 2)
    assert message in error
    assert "Traceback" not in error
