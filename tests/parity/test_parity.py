"""The same plan on two engines: the simulator, and real gRPC brokers in a real (emulated) network.

Every scenario: the same publications reach the same subscribers, over the same number of overlay links, with
the same number of messages of each type until RUN_ENDED; delays agree to 1 % or 0.5 ms at the median, p90,
p95, p99 and at the most.

- The kernel sends again on its ticks, one in 10 ms, so what a loss costs depends on how a publication lies to
  them. The simulator is started so that publications lie to its ticks as they do in the other run.
- Losses are drawn by other generators: how many publications are hit differs, what a hit costs does not.
  So delays are not compared at quantiles, but one by one where nothing was lost, and the shortest hold-up.
- Jitter is drawn as well: every delay is within the bounds of its path's links.
- A killed process takes the unwritten end of its log along, up to a second of it; that is not counted.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from facts import ABSOLUTE_US, RELATIVE, Facts, facts_of, far_apart
from scenarios import SCENARIOS, Scenario

from testbed.emulation.deploy import deploy, prepare
from testbed.emulation.engine import Engine, Options, choose
from testbed.simulation.engine import SimulateEngine
from testbed.simulation.simulator import START_US
from testbed.topology.load import load_plan_text

OFTEN = ("tree", "grape")  # each guest takes half a minute
JITTER_US = 2_000  # of the scenario
WHEEL_US = 5_120_000  # the kernel's timers look the same again after this


def run(engine: Engine, scenario: Scenario, folder: Path) -> Facts:
    plan = load_plan_text(scenario.text(), f"{scenario.name}.yaml")
    clock = engine.clocks()[0]
    outcome = deploy(
        prepare(plan, None, folder, engine.name, clock), engine, Options(clock), lambda event: None
    )
    assert outcome.manifest.status == "done", outcome.manifest.reason
    return facts_of(outcome.folder)


def simulate_like(found: Facts, scenario: Scenario, folder: Path) -> Facts:
    """The simulation whose publications lie to the kernel's ticks as those of the other run."""
    apart = found.first_us - run(SimulateEngine(), scenario, folder / "anyhow").first_us
    return run(SimulateEngine(START_US + apart % WHEEL_US), scenario, folder / "aligned")


class Parity:
    """The cases; a subclass names the engine that is held against the simulator."""

    engine = ""

    @pytest.mark.parametrize(
        "name", [pytest.param(n, marks=[] if n in OFTEN else pytest.mark.nightly) for n in SCENARIOS]
    )
    def test_same_run(self, name: str, tmp_path: Path) -> None:
        scenario = SCENARIOS[name]
        found = run(choose(self.engine, None)[0], scenario, tmp_path / "run")
        expected = simulate_like(found, scenario, tmp_path)
        assert expected.hops, "the scenario delivers nothing"
        assert found.hops == expected.hops
        assert found.counts == expected.counts
        assert found.migrated == expected.migrated
        assert found.faults == expected.faults
        if scenario.delays == "all":
            assert not far_apart(found, expected)
        elif scenario.delays == "bounded":
            self._within_bounds(found, expected)
        else:
            self._late_by_as_much(found, expected)

    def _late_by_as_much(self, found: Facts, expected: Facts) -> None:
        """Who is late is drawn on each side. The others agree one by one; so does the shortest hold-up."""
        best = {
            who: min(d for (w, _), d in expected.delays.items() if w == who) for who, _ in expected.delays
        }
        held = [
            {p: d for p, d in facts.delays.items() if d - best[p[0]] > ABSOLUTE_US}
            for facts in (found, expected)
        ]
        on_time = expected.delays.keys() - held[0].keys() - held[1].keys()
        assert on_time
        assert all(abs(found.delays[pair] - expected.delays[pair]) <= ABSOLUTE_US for pair in on_time)
        assert held[1], "the scenario loses nothing"
        if held[0]:
            one, other = (min(d - best[pair[0]] for pair, d in late.items()) for late in held)
            assert abs(one - other) <= max(ABSOLUTE_US, RELATIVE * other)

    def _within_bounds(self, found: Facts, expected: Facts) -> None:
        """Two draws of up to 2 ms each way on every link; a chain of brokers has one link per hop."""
        for pair, delay in expected.delays.items():
            assert abs(found.delays[pair] - delay) <= 2 * JITTER_US * expected.hops[pair][0] + ABSOLUTE_US


class TestSimulator(Parity):
    engine = "simulate"


@pytest.mark.guest
@pytest.mark.slow
class TestGuest(Parity):
    engine = "guest"
