"""The guest engine: the host engine's runner inside a kernel of our own, in virtual time, without root."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import msgspec

from testbed.emulation.guest.api import Guest, GuestProcess, GuestSpec
from testbed.emulation.host.engine import REPOSITORY, read_event, runner_command
from testbed.errors import RunFailed, TestbedError
from testbed.run.engine import Ability, Clock, Event, Options
from testbed.run.folder import RunFolder, write_atomically
from testbed.run.reserve import GUEST_ROOM_BYTES, DiskWatch, is_full
from testbed.topology.plan import Plan

# Resident memory of what runs in a guest, with room: the guest takes pages only as it touches them.
BASE_MB = 768
BROKER_MB = 40
DRIVER_MB = 48
HOST_MB = 4
GUEST_FILE = "guest.json"
INSIDE_RECORDS = ("deployment.json", "created.json")  # what they tell of went with the guest


class GuestFile(msgspec.Struct):
    """RUNFOLDER/guest.json: where the guest of a run is to be found while it lives."""

    control: str


class GuestEngine:
    name = "guest"

    def __init__(self) -> None:
        self._guest: Guest | None = None
        self._runner: GuestProcess | None = None
        self._run: RunFolder | None = None
        self._keep = False
        self._executing = False
        self._listening = False  # the runner has spoken: it takes signals as orders
        self._end_wanted = False

    def clocks(self) -> tuple[Clock, ...]:
        return ("virtual", "real")

    def probe(self) -> Ability:
        from testbed.doctor import guest_engine, guest_kernel, resources

        findings = [
            guest_engine.processor(),
            guest_engine.executable_memory(),
            guest_engine.ptrace(),
            guest_kernel.guest_kernel(),
            resources.commands(),
        ]
        missing = [finding for finding in findings if not finding.ok]
        if missing:
            return Ability(False, "; ".join(finding.detail for finding in missing), missing[0].fix)
        return Ability(True, "the guest kernel is ready")

    def start(self, run: RunFolder, options: Options) -> None:
        from testbed.emulation.kernel import require

        plan = run.read_plan()
        kernel = require()
        if is_full(run.path, GUEST_ROOM_BYTES):
            raise TestbedError(
                f"less than {GUEST_ROOM_BYTES >> 20} MB are free", file=run.path,
                hint="remove old runs, or use --results DIR",
            )  # fmt: skip
        spec = GuestSpec(
            kernel=kernel,
            memory_mb=options.memory_mb or memory_mb(plan),
            clock=options.clock,  # type: ignore[arg-type]
            cwd=REPOSITORY,
            shared=(run.path,),
            seed=plan.seed,
        )
        self._run, self._keep = run, options.keep
        self._guest = Guest(spec)
        write_atomically(run.path / GUEST_FILE, msgspec.json.encode(GuestFile(str(self._guest.control.path))))
        manifest = run.read_manifest()
        manifest.versions["guest kernel"] = kernel.name
        run.write_manifest(manifest)

    def execute(self, on_event: Callable[[Event], None]) -> int:
        assert self._guest is not None, "start comes first"
        assert self._run is not None
        self._executing = True
        try:
            return self._execute(self._guest, self._run, on_event)
        finally:
            self._executing = False

    def _execute(self, guest: Guest, run: RunFolder, on_event: Callable[[Event], None]) -> int:
        if self._end_wanted:
            raise RunFailed("interrupted before the guest booted")
        on_event({"t": "state", "state": "booting", "phase": "", "detail": ""})
        runner = self._runner = guest.start(runner_command(run, self._keep))
        if self._end_wanted:
            guest.kill()
            raise RunFailed("interrupted while the guest booted")
        disk = DiskWatch(run.path, lambda: runner.signal(signal.SIGINT))
        for line in runner.lines(meanwhile=disk.look):
            event = read_event(line)
            if event is not None:
                self._listening = True
                on_event(event)
                if event["t"] == "kept":
                    guest.detach()
                    return 0
        code = runner.wait()
        if disk.full:
            raise disk.problem()
        return code

    def collect(self) -> None:
        """What the guest's kernel and the runner complained about."""
        if self._guest is None or self._run is None or self._guest.detached:
            return
        control = self._guest.control
        sources = {"console.log": control.console, "runner.err": control.output(1, "err")}
        for name, source in sources.items():
            if source.exists() and source.stat().st_size:
                (self._run.logs / name).write_bytes(source.read_bytes())

    def stop(self, hard: bool = False) -> None:
        """A guest that boots is killed: nobody in it would hear of a signal, and no run is there to end."""
        guest, runner = self._guest, self._runner
        self._end_wanted = True
        if guest is None or guest.detached or (runner is None and self._executing):
            return  # whoever starts the runner looks at what is wanted
        if hard or (runner is not None and runner.code is None and not self._listening and not guest.dead):
            guest.kill()
            if self._executing:
                return
        elif runner is not None and runner.code is None and not guest.dead:
            runner.signal(signal.SIGINT)
            return
        guest.close()
        if self._run is not None:
            for record in (GUEST_FILE, *INSIDE_RECORDS):
                (self._run.path / record).unlink(missing_ok=True)


def memory_mb(plan: Plan) -> int:
    """What a guest for this plan may use at most."""
    drivers = len({client.node for client in plan.clients})
    wanted = BASE_MB + BROKER_MB * len(plan.brokers) + DRIVER_MB * (drivers + len(plan.programs))
    wanted += HOST_MB * len(plan.network.nodes)
    available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    return max(BASE_MB, min(wanted, available * 9 // 10))
