"""One emulated run from an empty kernel to a full run folder."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import traceback
from collections.abc import Callable
from typing import Any

from broker_grpc.core.config import BrokerProcessConfig
from broker_grpc.process.clock import RunClock
from broker_grpc.registry import machine_of
from protos.records import ClockStep, Manifest
from testbed.emulation.deployment import DEPLOYMENT_FILE, describe_deployment
from testbed.emulation.guest.inside.park import park
from testbed.emulation.runner.certificates import VISITOR, Certificates
from testbed.emulation.runner.conductor import Conductor
from testbed.emulation.runner.journal import Journal
from testbed.emulation.runner.loop import Loop
from testbed.emulation.runner.nursery import Nursery
from testbed.emulation.runner.processes import Processes
from testbed.emulation.runner.progress import Reporter
from testbed.emulation.runner.service import Service, socket_path
from testbed.emulation.runner.versions import kernel, versions
from testbed.emulation.runner.wall_clock import WallClock
from testbed.errors import explain
from testbed.run import fidelity, stimuli
from testbed.run.configs import serves_control
from testbed.run.folder import RunFolder
from testbed.run.inputs import runnable
from testbed.run.reserve import is_full, release
from testbed.topology.plan import Event, Plan

TICK_US = {"virtual": 10_000_000, "real": 1_000_000}
NetworkFactory = Callable[..., Any]


class Interrupted(Exception):
    """Somebody wants the run to end while it is still being set up."""


class EmulatedRun:
    """Owns everything a run creates. `run` always ends with a readable folder and nothing left behind."""

    def __init__(self, folder: RunFolder, make_network: NetworkFactory, lifeline: int | None = None) -> None:
        self.folder = folder
        self.plan = runnable(folder)
        self.manifest = folder.read_manifest()
        self.clock = RunClock()
        self.loop = Loop(self.clock)
        self.reporter = Reporter(self.clock)
        self.journal = Journal(folder.events / "harness.jsonl")
        self.network = make_network(
            self.plan, folder, clock=self.manifest.clock, epoch_offset_us=self.clock.offset_us
        )
        self.conductor = Conductor(
            self.plan, self.clock, self.loop, self.network, self.journal, self.reporter,
            TICK_US[self.manifest.clock], self.obstacle,
        )  # fmt: skip
        self.lifeline = lifeline
        self.nursery: Nursery | None = None
        self.processes: Processes | None = None
        self.service: Service | None = None
        self.certificates: Certificates | None = None
        self.wall_clock: WallClock | None = None
        self.kept = False
        self.let_go = False  # of a kept deployment
        self.stop_reason = ""

    # ------------------------------------------------------------ from start to end

    def run(self, keep: bool = False) -> stimuli.Finish:
        """Run the plan; with `keep`, network and brokers stay until somebody says stop."""
        self.listen()
        try:
            outcome = self.bring_up_and_conduct()
            if keep and outcome.status == "done":
                self.stay(outcome)
        except Exception as error:
            outcome = self.failure(error)
        finally:
            self.take_down()
        if not self.kept:
            self.finish(outcome)
        self.journal.close()
        return outcome

    def failure(self, error: Exception) -> stimuli.Finish:
        """Whatever fails after a request to stop is part of stopping."""
        with contextlib.suppress(Interrupted):
            self.look_for_requests()
        if self.stop_reason:
            return stimuli.Finish("aborted", self.stop_reason)
        outcome = stimuli.Finish("failed", explain(error))
        self.reporter.say("error", text=outcome.reason)
        return outcome

    def look_for_requests(self) -> None:
        """Without waiting; for steps that do not go through the loop."""
        self.loop.turn(self.clock.now_us())
        if self.stop_reason:
            raise Interrupted

    def network_progress(self, step: str, done: int, total: int) -> None:
        self.reporter.network(step, done, total)
        self.look_for_requests()

    def listen(self) -> None:
        """Ctrl-C, SIGTERM and a vanished harness end the run in order."""
        self.loop.on_signals((signal.SIGINT, signal.SIGTERM), lambda: self.request_stop("interrupted"))
        if self.lifeline is not None:
            self.loop.watch(self.lifeline, self.read_lifeline)

    def read_lifeline(self) -> None:
        assert self.lifeline is not None
        data = os.read(self.lifeline, 4096)
        if not data:
            self.loop.unwatch(self.lifeline)
            if not self.kept:
                self.request_stop("the harness is gone")
        elif b"stop" in data:
            self.request_stop("interrupted")

    def stay(self, outcome: stimuli.Finish) -> None:
        """The run is over and its results are complete; the brokers can be played with."""
        self.end_clients()
        self.attempt("stopping probes", self.network.stop_probes)
        self.attempt("stopping the capture", self.stop_capture)
        self.finish(outcome)
        self.kept = True
        self.write_deployment("kept")
        self.reporter.say("kept")
        if self.manifest.engine == "guest":
            park()  # nobody waits for anything: the guest's clock stands until a command is run in it
        while not self.let_go:
            self.loop.turn(None)

    def request_stop(self, reason: str) -> None:
        self.let_go = True
        self.stop_reason = self.stop_reason or reason
        self.conductor.notify(stimuli.StopRequested(reason))

    def bring_up_and_conduct(self) -> stimuli.Finish:
        self.describe()
        warm_up(self.plan)
        if self.plan.tls:
            self.certificates = Certificates(self.plan)
            self.certificates.show(self.folder.certificates)
        elif serves_control(self.plan):
            self.folder.write_control_secret()
        self.wall_clock = WallClock(self.loop, self.clock.offset_us, self.clock_stepped)
        self.reporter.say("state", state="network", phase="", detail="")
        self.network.up(self.network_progress)
        self.network.start_capture()
        self.network.start_probes()
        self.nursery = Nursery(self.network.enter, self.clear_up_after_death)
        tls = self.certificates.files if self.certificates is not None else None
        self.processes = Processes(
            self.plan, self.folder, self.clock, self.loop, self.nursery, self.conductor.notify, tls
        )
        self.service = Service(
            socket_path(self.manifest.run), self.loop, self.status, self.processes.run_for_somebody,
            self.prompt, self.exchange, lambda: self.request_stop("stopped by 'testbed stop'"),
        )  # fmt: skip
        self.write_deployment("running")
        return self.conductor.run(self.processes)

    def write_deployment(self, state: str) -> None:
        assert self.service is not None
        visitor = self.certificates.files[VISITOR] if self.certificates is not None else None
        describe_deployment(self.folder, self.plan, self.manifest, state, self.service.path, visitor)

    def status(self) -> dict[str, Any]:
        """For `testbed status`: where the run is."""
        timeline = self.conductor.timeline
        return {
            "state": "kept" if self.kept else "running",
            "phase": timeline.phase_name,
            "stage": timeline.stage,
            "clock_us": self.clock.now_us() - self.manifest.first_us,
            "processes": {str(id): str(state) for id, state in timeline.roster.states.items()},
        }

    def exchange(self, broker: str, to: str, remove: list[str]) -> None:
        """For `testbed exchange`: also of a deployment whose timeline has ended."""
        arguments = {"to": to, "remove": remove}
        event = Event(self.conductor.timeline.phase_name, 0, "exchange", broker, arguments)
        self.conductor.carry_out(self.conductor.timeline.instruct(self.clock.now_us(), event))

    def prompt(self) -> None:
        from mininet.cli import CLI
        from mininet.log import setLogLevel

        setLogLevel("output")
        CLI(self.network.mininet)

    def describe(self) -> None:
        """What only this kernel knows, before anything can go wrong."""
        self.manifest.first_us = self.clock.now_us()
        self.manifest.kernel = kernel()
        self.manifest.versions = {**self.manifest.versions, **versions()}
        self.manifest.tls = self.plan.tls
        self.folder.write_manifest(self.manifest)

    def obstacle(self) -> str:
        """Brokers survive a full disk and drop log events; a run must not pretend that it was complete."""
        return f"the disk is full ({self.folder.path}): events are lost" if is_full(self.folder.path) else ""

    # ------------------------------------------------------------ the end

    def take_down(self) -> None:
        """Processes first, then what watched them, then the network. A failed step does not stop the next."""
        if self.service is not None:
            self.attempt("closing the service", self.service.close)
        self.end_clients()
        self.attempt("stopping brokers", lambda: self.end_processes("broker"))
        self.attempt("stopping programs", lambda: self.end_processes("program"))
        self.attempt("stopping probes", self.network.stop_probes)
        self.attempt("stopping the capture", self.stop_capture)
        self.attempt("stopping the controller", self.network.stop_controller)
        if self.nursery is not None:
            self.attempt("closing the nursery", self.nursery.goodbye)
        self.attempt("taking the network down", self.network.down)
        if self.certificates is not None:
            self.certificates.remove()
        self.folder.control_secret.unlink(missing_ok=True)
        (self.folder.path / DEPLOYMENT_FILE).unlink(missing_ok=True)

    def end_clients(self) -> None:
        self.attempt("stopping clients", lambda: self.end_processes("driver"))

    def end_processes(self, kind: str) -> None:
        if self.processes is not None:
            for process in self.processes.end_all(kind):
                self.warn(f"{process} did not stop when asked and was killed")

    def stop_capture(self) -> None:
        if self.wall_clock is not None:
            self.wall_clock.look()
            self.wall_clock.close()
            self.wall_clock = None
        captures = self.network.stop_capture()
        if captures:
            self.manifest.captures = tuple(captures)
        for capture in captures:
            if capture.dropped > 0:
                self.warn(f"{capture.file}: the kernel dropped {capture.dropped} packets")

    def clock_stepped(self, step_us: int) -> None:
        at_us = self.clock.now_us()
        self.manifest.clock_steps = (*self.manifest.clock_steps, ClockStep(at_us, step_us))
        where = f"{(at_us - self.manifest.first_us) / 1e6:.3f} s after the run's start"
        self.warn(f"the wall clock was set by {step_us / 1e6:+.6f} s, {where}; captures are stamped by it")

    def attempt(self, what: str, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception as error:
            traceback.print_exc()
            self.warn(f"{what}: {explain(error)}")

    def warn(self, text: str) -> None:
        self.conductor.warnings.append(text)
        self.reporter.say("warning", text=text)

    def finish(self, outcome: stimuli.Finish) -> None:
        """Verdict and manifest: after this the folder is complete."""
        if outcome.status == "done" and (full := self.obstacle()):
            outcome.status, outcome.reason = "failed", full
        release(self.folder.path)
        self.attempt("judging the probes", self.judge)
        manifest = self.manifest
        manifest.status, manifest.reason = outcome.status, outcome.reason
        manifest.last_us = self.clock.now_us()
        manifest.warnings = (*manifest.warnings, *self.conductor.warnings)
        self.folder.write_manifest(manifest)
        self.reporter.say("finished", status=outcome.status, reason=outcome.reason)

    def judge(self) -> None:
        probes = fidelity.read(self.folder.probes)
        events = fidelity.read_events(self.folder.events / "harness.jsonl")
        planned = fidelity.outside_faults(probes, events)
        limits = fidelity.limits(self.plan, self.manifest.clock)
        lossy = fidelity.loses(self.plan)
        verdict = fidelity.judge(planned, limits, fidelity.tolerances(self.plan), lossy)
        if broken := fidelity.broken_lines(self.folder.probes):
            verdict.verdict, verdict.reason = (
                "fail",
                f"probes/{broken[0]} cannot be read ({len(broken)} lines)",
            )
        self.folder.write_fidelity(verdict)
        if verdict.verdict == "fail":
            self.warn(f"fidelity: {verdict.reason}")

    def clear_up_after_death(self) -> None:
        """In the nursery, when the runner was killed: stop what it started and say so in the folder."""
        steps = (self.network.stop_probes, self.stop_capture, self.network.stop_controller, self.network.down)
        for step in steps:
            self.attempt("clearing up", step)
        if self.certificates is not None:
            self.certificates.remove()
        self.folder.control_secret.unlink(missing_ok=True)
        release(self.folder.path)
        manifest: Manifest = self.folder.read_manifest()
        manifest.status, manifest.reason = "aborted", "the runner was killed"
        manifest.captures = self.manifest.captures
        manifest.last_us = self.clock.now_us()
        self.folder.write_manifest(manifest)


def warm_up(plan: Plan) -> None:
    """Import all that children need, so that they share it. Nothing of gRPC may be started here.

    Of the machines the plain one, which most are or build on; those who are another import it themselves.
    """
    if plan.brokers:
        importlib.import_module("broker_grpc.process.process")
        machine_of(BrokerProcessConfig("", ""))
    if plan.clients:
        importlib.import_module("testbed.workload.driver")
