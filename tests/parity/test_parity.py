"""The same plan on two engines: the simulator, and real gRPC brokers in a real (emulated) network.

Every scenario: the same publications reach the same subscribers, over the same number of overlay links, with
the same number of messages of each type until RUN_ENDED; delays agree to 1 % or 0.5 ms at the median, p90, p95,
p99 and at the most. Where the network draws random numbers (jitter, loss) its draws differ from the
simulator's, so of the delays only bounds that hold for every draw are compared. After a crash, connections
are made again at instants that depend on more than the plan; there deliveries are compared for publications
made a second before the fault or earlier, and a second after the repair or later.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.emulation.deploy import deploy, prepare
from testbed.emulation.engine import Options, choose
from testbed.topology.load import load_plan_text
from facts import Facts, away_from_faults, facts_of, far_apart
from scenarios import SCENARIOS, Scenario

OFTEN = ("tree", "loss", "broker-crash", "grape")  # each guest takes half a minute
MARGIN_US = 1_000_000


def run(engine_name: str, scenario: Scenario, folder: Path) -> Facts:
    plan = load_plan_text(scenario.text(), f"{scenario.name}.yaml")
    engine, clock, _ = choose(engine_name, None)
    outcome = deploy(
        prepare(plan, None, folder, engine.name, clock), engine, Options(clock), lambda event: None
    )
    assert outcome.manifest.status == "done", outcome.manifest.reason
    return facts_of(outcome.folder)


class Parity:
    """The cases; a subclass names the engine that is held against the simulator."""

    engine = ""

    @pytest.mark.parametrize(
        "name", [pytest.param(n, marks=[] if n in OFTEN else pytest.mark.nightly) for n in SCENARIOS]
    )
    def test_same_run(self, name: str, tmp_path: Path) -> None:
        scenario = SCENARIOS[name]
        expected = run("simulate", scenario, tmp_path / "simulated")
        found = run(self.engine, scenario, tmp_path / "run")
        assert expected.hops, "the scenario delivers nothing"
        if scenario.calm:
            assert found.hops == expected.hops
            assert found.counts == expected.counts
            assert found.migrated == expected.migrated
        else:
            self._same_away_from_faults(found, expected)
        if scenario.exact and scenario.calm:
            assert not far_apart(found, expected)
        else:
            self._no_faster(scenario, found, expected)

    def _same_away_from_faults(self, found: Facts, expected: Facts) -> None:
        fault_us = expected.fault_us[0], max(expected.fault_us[1], found.fault_us[1])
        kept = away_from_faults(expected, fault_us, MARGIN_US)
        assert kept, "the scenario delivers nothing away from the fault"
        assert away_from_faults(found, fault_us, MARGIN_US) == kept

    def _no_faster(self, scenario: Scenario, found: Facts, expected: Facts) -> None:
        """The median agrees where it is not drawn, and no delay is outside what the links can do."""
        if scenario.name == "jitter":
            for pair, delay in expected.delays.items():
                assert abs(found.delays[pair] - delay) <= 2 * 2_000 * 2 * max(1, expected.hops[pair][0])
        else:
            near = sorted(found.delays.values())[len(found.delays) // 2]
            assert abs(near - sorted(expected.delays.values())[len(expected.delays) // 2]) <= 500


class TestSimulator(Parity):
    engine = "simulate"


@pytest.mark.guest
@pytest.mark.slow
class TestGuest(Parity):
    engine = "guest"
