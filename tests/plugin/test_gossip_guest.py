"""A protocol of another package as real processes: what the simulator said is what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.analysis.evidence.runs import load_runs
from testbed.analysis.wire.witness import witness
from tests.emulation.deployments import latest
from tests.parity.facts import facts_of
from tests.plugin.gossip_site import RING, verb

pytestmark = [pytest.mark.guest, pytest.mark.slow]


def test_real_processes_do_what_the_simulator_says(site: Path, tmp_path: Path) -> None:
    for engine in ("guest", "simulate"):
        done = verb([site], "deploy", RING, "--engine", engine, "--results", tmp_path / engine)
        assert done.returncode == 0, done.stdout + done.stderr
    real, simulated = (latest(tmp_path / engine, "gossip-ring") for engine in ("guest", "simulate"))
    found, expected = facts_of(real), facts_of(simulated)
    subscribers = {node for node, _ in found.hops}
    assert len(subscribers) == 5
    assert {len(hops) for hops in found.hops.values()} == {1}, "each gets each once"
    assert len(found.hops) == len(subscribers) * found.counts["PUBLISHED", "publication"]
    assert (found.hops, found.counts) == (expected.hops, expected.counts)
    # The run folder says what the messages on the wire are called: the package is not installed here.
    (run,) = load_runs([real.path])
    rows = [row for capture in run.captures for row in witness(capture).to_pylist()]
    digests = sum(row["messages"] for row in rows if (row["fact"], row["type"]) == ("count", "digest"))
    assert digests == found.counts["SENT", "digest"]
