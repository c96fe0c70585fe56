"""The same plan on two engines: the simulator, and real gRPC brokers in a real (emulated) network.

Every scenario: the same publications reach the same subscribers, over the same number of overlay links, with
the same number of messages of each type until RUN_ENDED; delays agree to 1 % or 0.5 ms at the median, p90,
p95, p99 and at the most; links are up at the same time to 1 % or 0.4 ms.

- The kernel sends again on its ticks, one in 10 ms, so what a loss costs depends on how a publication lies to
  them. The simulator is started so that publications lie to its ticks as they do in the other run.
- Which packets are lost is drawn by chance. The simulator is told which ones the other run lost and loses
  the same: what is compared is what they cost (`losses`).
- Jitter is drawn as well; its scenario has so many deliveries that quantiles of two draws agree.
- A killed process takes the unwritten end of its log along, up to a second of it; that is not counted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Engine, Options, choose
from testbed.run.folder import RunFolder
from testbed.simulation.engine import SimulateEngine
from testbed.simulation.simulator import START_US
from testbed.simulation.wires import Loses
from testbed.topology.load import load_plan_text
from tests.parity.facts import Facts, facts_of, far_apart, up_apart
from tests.parity.losses import SameLosses, losses_of, none_lost
from tests.parity.scenarios import SCENARIOS, Scenario

OFTEN = (
    "tree",
    "bottleneck",
    "grape",
    "cut-pairs",
    "cycle",
    "both-dial",
    "exchange",
    "scribe",
)  # each guest takes a quarter of a minute
WHEEL_US = 5_120_000  # the kernel's timers look the same again after this


def run(engine: Engine, scenario: Scenario, folder: Path) -> RunFolder:
    plan = load_plan_text(scenario.text(), f"{scenario.name}.yaml")
    clock = engine.clocks()[0]
    outcome = deploy(
        prepare(plan, None, folder, engine.name, clock), engine, Options(clock), lambda event: None
    )
    assert outcome.manifest.status == "done", outcome.manifest.reason
    return outcome.folder


def simulate_like(other: RunFolder, found: Facts, scenario: Scenario, folder: Path) -> Facts:
    """The simulation whose publications lie to the kernel's ticks as those of the other run, and which loses
    the packets that the other one lost."""
    captured = scenario.lossy and other.read_manifest().engine != "simulate"
    first = run(SimulateEngine(loses=none_lost if captured else None), scenario, folder / "anyhow")
    apart = found.first_us - facts_of(first).first_us
    loses: Loses | None = None
    if captured:
        loses = SameLosses(losses_of(other, found.first_us), apart - apart % WHEEL_US)
    aligned = SimulateEngine(START_US + apart % WHEEL_US, loses)
    return facts_of(run(aligned, scenario, folder / "aligned"))


class Parity:
    """The cases; a subclass names the engine that is held against the simulator."""

    engine = ""

    @pytest.mark.parametrize(
        "name", [pytest.param(n, marks=[] if n in OFTEN else pytest.mark.nightly) for n in SCENARIOS]
    )
    def test_same_run(self, name: str, tmp_path: Path) -> None:
        scenario = SCENARIOS[name]
        other = run(choose(self.engine, None)[0], scenario, tmp_path / "run")
        found = facts_of(other)
        expected = simulate_like(other, found, scenario, tmp_path)
        assert expected.hops, "the scenario delivers nothing"
        assert found.hops == expected.hops
        assert found.counts == expected.counts
        assert found.migrated == expected.migrated
        assert found.faults == expected.faults
        assert not far_apart(found, expected)
        assert scenario.drawn or not up_apart(found, expected)


class TestSimulator(Parity):
    engine = "simulate"


@pytest.mark.guest
@pytest.mark.slow
class TestGuest(Parity):
    engine = "guest"
