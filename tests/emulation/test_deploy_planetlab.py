"""The wide-area setting at full size: too long for every test run."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.run import fidelity
from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Options, engine
from testbed.topology.load import load_plan_file

pytestmark = [pytest.mark.guest, pytest.mark.nightly]

TOPOLOGY = Path(__file__).parents[2] / "topologies" / "planetlab-63.yaml"


def test_planetlab_63_is_exact_under_full_broker_traffic(tmp_path: Path) -> None:
    """The 99th percentile of the round-trip error is at most 0.1 % of the round trip plus 50 microseconds."""
    plan = load_plan_file(TOPOLOGY)
    folder = prepare(plan, TOPOLOGY, tmp_path, "guest", "virtual", "test")
    outcome = deploy(folder, engine("guest"), Options("virtual"), lambda event: None)
    assert outcome.manifest.status == "done", outcome.manifest.reason
    assert outcome.manifest.warnings == ()
    probes = [probe for probe in fidelity.read(folder.probes) if probe.measured_us >= 0]
    assert len(probes) > 2000
    beyond = sorted(
        abs(probe.measured_us - probe.planned_us) - 0.001 * probe.planned_us - 50 for probe in probes
    )
    assert fidelity.percentile(beyond, 0.99) <= 0
