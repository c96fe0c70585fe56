"""The host engine: Mininet on this kernel, in real time. Needs root, netem and Open vSwitch."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from broker_grpc.process.clock import is_virtual
from testbed.run.engine import Ability, Clock, Event, Options
from testbed.run.folder import RunFolder

REPOSITORY = Path(__file__).resolve().parents[3]
RUNNER = "testbed.emulation.runner"


def runner_command(run: RunFolder, keep: bool) -> list[str]:
    return [sys.executable, "-m", RUNNER, str(run.path), *(["--keep"] if keep else [])]


class HostEngine:
    name = "host"

    def __init__(self) -> None:
        self._runner: subprocess.Popen[bytes] | None = None
        self._kept = False

    def clocks(self) -> tuple[Clock, ...]:
        # In a guest this engine is on a kernel whose clock is virtual, and it must be judged by it.
        return ("virtual", "real") if is_virtual() else ("real",)

    def probe(self) -> Ability:
        from testbed.doctor import host_engine, resources
        from testbed.doctor.engines import plain_user

        findings = [host_engine.root(), host_engine.netem(), host_engine.openvswitch(), resources.commands()]
        if plain_user({finding.name: finding for finding in findings}):
            return Ability(False, "it needs root", "run it with sudo, or use --engine guest")
        missing = [finding for finding in findings if not finding.ok]
        if missing:
            return Ability(False, "; ".join(finding.detail for finding in missing), missing[0].fix)
        return Ability(True, "root, netem and Open vSwitch all work on this kernel")

    def start(self, run: RunFolder, options: Options) -> None:
        log = (run.logs / "runner.log").open("ab")
        self._runner = subprocess.Popen(
            [*runner_command(run, options.keep), "--lifeline"],
            cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True,
        )  # fmt: skip
        log.close()

    def execute(self, on_event: Callable[[Event], None]) -> int:
        runner = self._runner
        assert runner is not None, "start comes first"
        assert runner.stdout is not None
        for line in runner.stdout:
            event = read_event(line)
            if event is not None:
                on_event(event)
                if event["t"] == "kept":
                    self._kept = True
                    return 0
        return runner.wait()

    def collect(self) -> None:
        """Everything was written where it belongs."""

    def stop(self, hard: bool = False) -> None:
        runner = self._runner
        if runner is None or self._kept or runner.poll() is not None:
            return
        if hard:
            # The nursery sees the runner's end and clears up what the runner no longer can.
            os.kill(runner.pid, signal.SIGKILL)
        else:
            with contextlib.suppress(BrokenPipeError):
                assert runner.stdin is not None
                runner.stdin.write(b"stop\n")
                runner.stdin.flush()


def read_event(line: bytes | str) -> Event | None:
    """A line of the runner's output as an event; None for anything else that found its way there."""
    try:
        event = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return None
    return event if isinstance(event, dict) and "t" in event else None
