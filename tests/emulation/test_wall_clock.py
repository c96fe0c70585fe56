"""Somebody sets the wall clock during a run: probes do not heed it, and the run says so.

The program that does it in the guest lies in a folder of which the guest has one of its own: it runs from its
copy in the run folder.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from broker_grpc.process.clock import RunClock, epoch_offset_us
from protos.records import ClockStep, Manifest
from testbed.analysis.evidence.checks import clock_steps
from testbed.analysis.evidence.runs import Run
from testbed.emulation.network import echo
from testbed.emulation.network.echo import PAYLOAD, SO_TIMESTAMPNS, UNKNOWN, EchoSockets
from testbed.emulation.runner.loop import Loop
from testbed.emulation.runner.wall_clock import WallClock
from testbed.run.folder import RunFolder
from testbed.topology.plan import Network, Plan
from tests.emulation.deployments import latest, run, write

SECOND = 1_000_000


@pytest.mark.parametrize("off_us", [3_600_000_000, -500])
def test_a_step_is_told_once(off_us: int) -> None:
    told: list[int] = []
    clock = WallClock(Loop(RunClock()), epoch_offset_us() - off_us, told.append)
    clock.look()
    clock.look()
    clock.close()
    assert told == [pytest.approx(off_us, abs=50_000)]


def test_clocks_that_agree_are_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    clock = WallClock(Loop(RunClock()), 7, told.append)
    monkeypatch.setattr("testbed.emulation.runner.wall_clock.epoch_offset_us", lambda: 100)
    clock.look()
    clock.close()
    assert told == []


class Silent:
    """A socket that takes everything."""

    def sendto(self, packet: bytes, address: tuple[str, int]) -> int:
        return len(packet)


@pytest.mark.parametrize(("step_ns", "expected"), [(0, 5_000), (3_600 * 10**9, UNKNOWN), (-(10**6), UNKNOWN)])
def test_a_probe_beside_a_step_tells_nothing(
    monkeypatch: pytest.MonkeyPatch, step_ns: int, expected: int
) -> None:
    """Its stamp may be of before or after. Any other is turned into monotonic time."""
    sockets = EchoSockets({})
    monkeypatch.setattr(echo, "wall_ns", lambda: 10**18)
    sockets._sockets["here"] = Silent()  # type: ignore[assignment]
    assert sockets.send("here", "10.0.0.1", 1, 2) is not None
    monkeypatch.setattr(echo, "wall_ns", lambda: 10**18 + step_ns)
    stamp = struct.pack("=qq", 10**9, 5_000)
    packet = bytes([0x45]) + bytes(19) + bytes(8) + PAYLOAD.pack(sockets._cookie, 1, 2)
    reply = sockets._reply(packet, [(1, SO_TIMESTAMPNS, stamp)])
    assert reply is not None
    assert reply.received_ns == expected


def ended(*steps: ClockStep) -> Run:
    manifest = Manifest(run="r", first_us=0, clock_steps=steps)
    made = Run("r", RunFolder(Path("nowhere")), Plan("p", 1, Network()), manifest)
    made.__dict__["ended_us"] = 100 * SECOND
    return made


def test_the_end_of_a_run_on_the_clock_of_its_captures() -> None:
    assert ended()._ended_on_the_wall_us == 100 * SECOND
    assert ended(ClockStep(50 * SECOND, 30 * SECOND))._ended_on_the_wall_us == 130 * SECOND
    assert ended(ClockStep(101 * SECOND, 30 * SECOND))._ended_on_the_wall_us == 100 * SECOND
    assert ended(ClockStep(50 * SECOND, -30 * SECOND))._ended_on_the_wall_us == 0, "a stamp is ambiguous"
    assert clock_steps(ended(ClockStep(50 * SECOND, -30 * SECOND))) == ["-30.000000 s at 50.000 s"]


SETTER = """\
#!/bin/sh
sleep 3
date -s "@$(( $(date +%s) + 3600 ))"
sleep 2
date -s "@$(( $(date +%s) - 7200 ))"
"""


@pytest.mark.guest
@pytest.mark.slow
def test_a_program_of_the_run_sets_the_clock(tmp_path: Path) -> None:
    (tmp_path / "setter.sh").write_text(SETTER)
    (tmp_path / "setter.sh").chmod(0o755)
    more = "programs: {setter: {node: B1, command: [./setter.sh]}}\nprobes: {every: 100ms}\n"
    topology = write(tmp_path, "clock", "8s", more=more)
    done = run("deploy", topology, "--engine", "guest", "--results", tmp_path / "results")
    assert done.returncode == 0, done.stderr
    folder = latest(tmp_path / "results", "clock")
    manifest = folder.read_manifest()
    hours = [round(step.step_us / 1e6 / 3600) for step in manifest.clock_steps]
    assert hours == [1, -2]
    apart = manifest.clock_steps[1].t_us - manifest.clock_steps[0].t_us
    assert apart == pytest.approx(2 * SECOND, abs=20_000), "told in the instant in which it is done"
    assert sum("the wall clock was set by" in warning for warning in manifest.warnings) == 2
    fidelity = folder.read_fidelity()
    assert fidelity is not None
    assert (fidelity.verdict, fidelity.lost) == ("pass", 0)
    assert fidelity.probes > 300
    assert fidelity.error_max_us < 200
    assert (folder.path / folder.read_plan().programs[0].argv[0]).read_text() == SETTER
