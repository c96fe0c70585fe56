"""A broker on the path dies while a publisher moves: at many moments in the simulator, at two in the guest.

"Then the publisher ends at one of the two brokers and nothing published after its resume is lost."
"""

from __future__ import annotations

from pathlib import Path

import pytest

from protos.records import LogEvent
from testbed.run.fidelity import read_events
from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.simulator import Simulator
from testbed.topology.file.document import read_document
from testbed.topology.load import resolve
from tests.emulation import deployments
from tests.relocation.lost_broker import SOURCE, TARGET, TOPOLOGY, check, moment


def write(folder: Path, fault: str) -> Path:
    folder.mkdir()
    path = folder / "lost-broker.yaml"
    path.write_text(TOPOLOGY.format(events=fault))
    return path


def simulated(folder: Path, fault: str = "") -> list[LogEvent]:
    path = write(folder, fault)
    log = SimulatedLog(folder / "simulation.jsonl")
    simulator = Simulator(resolve(read_document(path), folder, 1), log, lambda tell: None)
    simulator.begin()
    while simulator.step(1000):
        pass
    simulator.end()
    log.close()
    return list(read_events(folder / "simulation.jsonl"))


def emulated(folder: Path, fault: str) -> list[LogEvent]:
    done = deployments.run("deploy", write(folder, fault), "--engine", "guest", "--results", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(deployments.events(deployments.latest(folder, "lost-broker")), key=lambda e: e.t_us)


def test_whenever_it_dies_the_publisher_ends_at_one_of_the_two_brokers(tmp_path: Path) -> None:
    calm = simulated(tmp_path / "calm")
    shares = [n / 20 for n in range(1, 21)]
    ends = [check(simulated(tmp_path / f"killed-{s}", moment(calm, s))) for s in shares]
    # It stays while the update has not passed the broker, and goes afterwards: one change.
    assert set(ends) == {SOURCE, TARGET}
    assert ends == sorted(ends)


@pytest.mark.guest
@pytest.mark.slow
@pytest.mark.parametrize(("share", "end"), [(0.4, SOURCE), (0.85, TARGET)])
def test_so_it_does_with_real_processes(tmp_path: Path, share: float, end: str) -> None:
    fault = moment(simulated(tmp_path / "calm"), share)
    assert check(emulated(tmp_path / "killed", fault)) == end
