"""The same plan on two engines: the simulator, and real gRPC brokers in a real (emulated) network.

Every scenario: the same publications reach the same subscribers, over the same number of overlay links, with
the same number of messages of each type until RUN_ENDED; delays agree to 1 % or 0.5 ms at the median, p90,
p95, p99 and at the most. What cannot be compared so, and what is compared in its place:

- jitter: the network's draws are not the simulator's; every delay is within the bounds of its path's links.
- loss: which packets are lost is drawn; delays that no retransmission held up agree, one by one.
- link failure: when TCP sends again depends on the round trips it has measured; of the
  publications made from the cut until the backlog is gone, each is held up as long in both runs to within
  10 % of the longest hold-up; all other delays agree, one by one.
- broker crash: connections are made again at instants that depend on how processes start; compared are
  publications made a second before the fault or earlier and a second after the repair or later.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from facts import ABSOLUTE_US, Facts, away_from_faults, facts_of, far_apart
from scenarios import SCENARIOS, Scenario

from testbed.emulation.deploy import deploy, prepare
from testbed.emulation.engine import Options, choose
from testbed.simulation.wires import RTO_MIN_US
from testbed.topology.load import load_plan_text

OFTEN = ("tree", "grape")  # each guest takes half a minute
MARGIN_US = 1_000_000
JITTER_US = 2_000  # of the scenario


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
        if scenario.delays == "all":
            assert not far_apart(found, expected)
        elif scenario.delays == "bounded":
            self._within_bounds(found, expected)
        else:
            self._unhindered_agree(scenario, found, expected)

    def _same_away_from_faults(self, found: Facts, expected: Facts) -> None:
        fault_us = expected.fault_us[0], max(expected.fault_us[1], found.fault_us[1])
        kept = away_from_faults(expected, fault_us, MARGIN_US)
        assert kept, "the scenario delivers nothing away from the fault"
        assert away_from_faults(found, fault_us, MARGIN_US) == kept

    def _within_bounds(self, found: Facts, expected: Facts) -> None:
        """Two draws of up to 2 ms each way on every link; a chain of brokers has one link per hop."""
        for pair, delay in expected.delays.items():
            assert abs(found.delays[pair] - delay) <= 2 * JITTER_US * expected.hops[pair][0] + ABSOLUTE_US

    def _unhindered_agree(self, scenario: Scenario, found: Facts, expected: Facts) -> None:
        """Deliveries take what the path takes, but for those that TCP held up."""
        late, expected_late = lateness(found, expected), lateness(expected, expected)
        assert min(late.values()) >= -ABSOLUTE_US
        held = {pair for pair, us in late.items() if us > ABSOLUTE_US}
        expected_held = {pair for pair, us in expected_late.items() if us > ABSOLUTE_US}
        if scenario.name == "link-failure":
            longest = max(expected_late.values())
            begin, end = expected.fault_us[0], expected.fault_us[0] + 1.2 * longest
            assert expected_held
            assert all(begin <= found.published[publication] <= end for _, publication in held)
            assert all(
                abs(late[pair] - expected_late[pair]) <= 0.1 * longest for pair in held | expected_held
            )
        else:
            assert len(held) <= len(late) // 4
            # What was lost waits for a time-out; what was sent behind it waits for the rest of that only.
            assert not held or max(late[pair] for pair in held) >= RTO_MIN_US


def lateness(facts: Facts, planned: Facts) -> dict[tuple[str, str], int]:
    """Beyond the shortest delay of that subscriber in the simulation."""
    best = {who: min(d for (w, _), d in planned.delays.items() if w == who) for who, _ in planned.delays}
    return {pair: delay - best[pair[0]] for pair, delay in facts.delays.items()}


class TestSimulator(Parity):
    engine = "simulate"


@pytest.mark.guest
@pytest.mark.slow
class TestGuest(Parity):
    engine = "guest"
