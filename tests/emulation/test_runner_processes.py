"""The runner with real brokers on the loopback: births, deaths, interruptions, and what is left."""

from __future__ import annotations

import os
import resource
import signal
import socket
import time
from pathlib import Path
from typing import cast

import msgspec
import pytest

from broker_grpc.core.config import BrokerProcessConfig
from broker_grpc.process.clock import RunClock
from testbed.emulation.runner.child import Birth, limit_resources
from testbed.emulation.runner.last_words import killed_for_memory
from testbed.emulation.runner.live_process import Process
from testbed.emulation.runner.loop import Loop
from testbed.emulation.runner.nursery import Nursery, Report
from testbed.emulation.runner.processes import Processes
from testbed.run.configs import BrokerConfigs
from testbed.run.fidelity import read_events
from testbed.run.stimuli import ProcessEnded, ProcessReady, Stimulus
from testbed.topology.plan import Event, Program
from tests.emulation.loopback import SECOND, Runner, chain, folder_for, once, recovered


def test_a_run_ends_done_and_leaves_nothing(tmp_path: Path) -> None:
    runner = Runner(chain(), tmp_path)
    assert runner.end() == 0
    assert runner.folder.read_manifest().status == "done"
    assert runner.kinds() == ["PHASE_STARTED", "PHASE_READY", "RUN_ENDED"]
    for broker in ("B1", "B2", "B3"):
        events = [event.kind for event in read_events(runner.folder.events / f"{broker}.jsonl")]
        assert events[0] == "STARTED"
        assert events[-1] == "STOPPED"
    assert runner.pids() == []
    assert not (runner.folder.path / "deployment.json").exists()


def test_a_real_broker_is_told_what_a_simulated_one_is(tmp_path: Path) -> None:
    """Where its log goes and how its clock runs come on top."""
    plan = chain(options={"matching_us": 3})
    runner = Runner(plan, tmp_path)
    assert runner.end() == 0
    simulated = BrokerConfigs(plan)
    for broker in ("B1", "B2", "B3"):
        written = (runner.folder.path / "processes" / f"{broker}.json").read_bytes()
        told = msgspec.json.decode(written, type=BrokerProcessConfig)
        assert told.events == str(runner.folder.events / f"{broker}.jsonl")
        told.events, told.epoch_offset_us = "", 0
        assert told == simulated.broker_config(broker, incarnation=1)


def test_a_crash_aborts_and_is_noticed_at_once(tmp_path: Path) -> None:
    plan = chain()
    plan.phases[-1].run_for_us = 600 * SECOND
    runner = Runner(plan, tmp_path)
    runner.wait_for(state="ready")
    runner.crash("B2")
    assert runner.end() == 1
    manifest = runner.folder.read_manifest()
    assert (manifest.status, manifest.reason) == ("failed", "B2 was killed by signal 9")
    assert "CRASHED" in runner.kinds()
    assert runner.pids() == []


def test_a_crashed_broker_is_restarted_and_the_overlay_recovers(tmp_path: Path) -> None:
    plan = chain(on_crash="restart")
    plan.phases += [once(tmp_path / "crashed"), recovered(plan)]
    runner = Runner(plan, tmp_path)
    runner.wait_for(state="ready")
    runner.crash("B2")
    runner.wait_for(state="crashed")
    (tmp_path / "crashed").touch()
    assert runner.end() == 0
    faults = [(event.kind, event.type, event.detail) for event in runner.harness() if "FAULT" in event.kind]
    assert faults == [("FAULT_STARTED", "crash", "B2"), ("FAULT_ENDED", "crash", "B2")]
    assert all(event.content == "" for event in runner.harness() if event.kind == "FAULT_ENDED"), "in the run"
    started = [
        event.detail for event in read_events(runner.folder.events / "B2.jsonl") if event.kind == "STARTED"
    ]
    assert started == ["incarnation 1", "incarnation 2"]


def test_a_dead_process_is_over_though_something_of_it_holds_its_line(tmp_path: Path) -> None:
    """In virtual time the runner must not wait in a loop: no time would pass, for ever."""
    ours, theirs = socket.socketpair()
    heard: list[Stimulus] = []
    clock = RunClock()
    loop = Loop(clock)
    with theirs:
        nursery = cast("Nursery", theirs)  # the loop only wants a descriptor of it
        processes = Processes(chain(), folder_for(chain(), tmp_path), clock, loop, nursery, heard.append)
        process = Process(Birth(1, "B1", "broker", "B1", ""))
        processes.alive["B1"] = process
        processes._connect(process, ours)
        theirs.sendall(b'{"event": "ready"}\n')
        processes._ended(process, Report("ended", 1, code=-signal.SIGKILL))
    assert heard == [ProcessReady("B1"), ProcessEnded("B1", -signal.SIGKILL, "")]
    assert processes.alive == {}


def test_events_kill_and_start_a_broker(tmp_path: Path) -> None:
    plan = chain()
    plan.phases.append(recovered(plan))
    plan.events = [Event("brokers", SECOND // 2, "kill", "B3"), Event("brokers", SECOND, "start", "B3")]
    runner = Runner(plan, tmp_path)
    assert runner.end() == 0
    faults = [(event.kind, event.type) for event in runner.harness() if "FAULT" in event.kind]
    assert faults == [
        (kind, action) for kind in ("FAULT_STARTED", "FAULT_ENDED") for action in ("kill", "start")
    ]
    assert "CRASHED" not in runner.kinds()


def test_a_program_that_fails_shows_its_last_words(tmp_path: Path) -> None:
    plan = chain(1)
    plan.programs = [Program("p", "B1", ["sh", "-c", "echo it hurts >&2; exit 3"], on_crash="abort")]
    plan.phases[0].start.append("p")
    runner = Runner(plan, tmp_path)
    assert runner.end() == 1
    assert runner.folder.read_manifest().reason == "p ended with exit code 3\nit hurts"


def test_a_command_that_does_not_exist_is_told(tmp_path: Path) -> None:
    plan = chain(1)
    plan.programs = [Program("p", "B1", ["no-such-command-here"], on_crash="abort")]
    plan.phases[0].start.append("p")
    runner = Runner(plan, tmp_path)
    assert runner.end() == 1
    assert "no-such-command-here: No such file" in runner.folder.read_manifest().reason


@pytest.mark.parametrize("how", ["signal", "order", "vanished"])
def test_an_interrupted_run_is_readable_and_leaves_nothing(tmp_path: Path, how: str) -> None:
    plan = chain()
    plan.phases[-1].run_for_us = 600 * SECOND
    runner = Runner(plan, tmp_path)
    runner.wait_for(state="ready")
    assert runner.process.stdin is not None
    if how == "signal":
        runner.process.send_signal(signal.SIGINT)
    elif how == "order":
        runner.process.stdin.write(b"stop\n")
        runner.process.stdin.flush()
    else:
        runner.process.stdin.close()
    assert runner.end() == 1
    assert runner.folder.read_manifest().status == "aborted"
    assert runner.kinds()[-1] == "RUN_ENDED"
    assert [event.kind for event in read_events(runner.folder.events / "B1.jsonl")][-1] == "STOPPED"
    assert runner.pids() == []


def test_a_killed_runner_leaves_a_readable_folder_and_no_process(tmp_path: Path) -> None:
    plan = chain()
    plan.phases[-1].run_for_us = 600 * SECOND
    runner = Runner(plan, tmp_path)
    runner.wait_for(state="ready")
    assert len(runner.pids()) >= 4
    runner.process.kill()
    runner.wait_until_gone()
    manifest = runner.folder.read_manifest()
    assert (manifest.status, manifest.reason) == ("aborted", "the runner was killed")
    for broker in ("B1", "B2", "B3"):
        kinds = [event.kind for event in read_events(runner.folder.events / f"{broker}.jsonl")]
        assert "LINK_UP" in kinds
        assert kinds[-1] == "STOPPED"  # the brokers saw the end of the control line and closed in order


def test_a_runner_that_dies_with_reports_unread_is_cleared_up_after(tmp_path: Path) -> None:
    """Its end then looks like a broken connection to the nursery, not like the end of one."""
    plan = chain()
    plan.phases[-1].run_for_us = 600 * SECOND
    runner = Runner(plan, tmp_path)
    runner.wait_for(state="ready")
    os.kill(runner.process.pid, signal.SIGSTOP)
    runner.crash("B2")
    while "B2" in map(runner._name, runner.pids()):
        time.sleep(0.01)
    runner.process.kill()
    runner.wait_until_gone()
    manifest = runner.folder.read_manifest()
    assert (manifest.status, manifest.reason) == ("aborted", "the runner was killed")


def test_many_deaths_in_one_turn_of_the_loop(tmp_path: Path) -> None:
    """The report of a death and the end of the control line may come together, in either order."""
    plan = chain(12)
    plan.phases[-1].run_for_us = 600 * SECOND
    runner = Runner(plan, tmp_path)
    runner.wait_for(state="ready")
    os.kill(runner.process.pid, signal.SIGSTOP)
    for broker in plan.brokers:
        runner.crash(broker.id)
    os.kill(runner.process.pid, signal.SIGCONT)
    assert runner.end() == 1
    manifest = runner.folder.read_manifest()
    assert manifest.reason.endswith("was killed by signal 9")
    assert [warning for warning in manifest.warnings if "Error" in warning] == []


def test_processes_that_the_kernel_ended_for_want_of_memory_are_counted(tmp_path: Path) -> None:
    vmstat = tmp_path / "vmstat"
    vmstat.write_text("nr_free_pages 12\noom_kill 3\noom_kill_other 9\n")
    assert killed_for_memory(vmstat) == 3
    vmstat.write_text("nr_free_pages 12\n")
    assert killed_for_memory(vmstat) == 0


def test_a_child_may_take_half_of_the_memory_and_goes_first_when_it_ends() -> None:
    child = os.fork()
    if child == 0:
        limit_resources()
        half = max(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2, 512 << 20)
        goes_first = Path("/proc/self/oom_score_adj").read_text().strip() == "500"
        os._exit(0 if goes_first and resource.getrlimit(resource.RLIMIT_DATA)[0] == half else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
