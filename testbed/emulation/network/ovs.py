"""Open vSwitch for one run alone: its own database and daemon, in the run's own switch namespace.

Nothing is shared with another run or with the machine's Open vSwitch: names cannot clash, and ending the two
processes and the namespace removes everything. Files live on tmpfs. The daemon is told to be lazy: in virtual
time every wake-up of an idle process costs real time.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from testbed.emulation.network import namespaces
from testbed.emulation.network.created import Record
from testbed.emulation.network.errors import NetworkError

SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
CPU_COUNT_DELAY = (
    10.5  # seconds of the monotonic clock before which vswitchd counts no CPUs and starts no threads
)
OPTIONS = {
    "n-handler-threads": "1",
    "n-revalidator-threads": "1",
    "max-idle": "3600000",  # keep decided flows in the kernel: the first packet of a flow is the slow one
    "max-revalidator": "60000",
    "stats-update-interval": "3600000",
}


class OpenVSwitch:
    def __init__(self, folder: Path, logs: Path, record: Record, place: Path) -> None:
        """`place` is the switch namespace, in which everything of it runs."""
        self.folder = folder
        self._logs = logs
        self._record = record
        self._place = place
        self._processes: list[subprocess.Popen[bytes]] = []
        self.environment = {
            **os.environ,
            "OVS_RUNDIR": str(folder),
            "OVS_DBDIR": str(folder),
            "OVS_LOGDIR": str(logs),
        }

    def start(self) -> None:
        """Database, then daemon (not before the clock lets it count CPUs)."""
        for tool in ("ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl"):
            if shutil.which(tool) is None:
                raise NetworkError(f"{tool} is not installed", hint="install the package openvswitch-switch")
        self._record.folder(self.folder)
        self.folder.mkdir(parents=True)
        self._run("ovsdb-tool", "create", str(self.folder / "conf.db"), str(SCHEMA))
        socket_path = self.folder / "db.sock"
        self._spawn("ovsdb-server", str(self.folder / "conf.db"), f"--remote=punix:{socket_path}")
        self._wait_for(socket_path)
        settings = [f"other_config:{name}={value}" for name, value in OPTIONS.items()]
        self.vsctl("--no-wait", "--", "init", "--", "set", "Open_vSwitch", ".", *settings)
        time.sleep(max(0.0, CPU_COUNT_DELAY - time.monotonic()))
        self._spawn("ovs-vswitchd", f"unix:{socket_path}")

    def vsctl(self, *arguments: str) -> str:
        return self._run("ovs-vsctl", "--timeout=120", *arguments)

    def appctl(self, *arguments: str) -> str:
        pid = self._processes[1].pid
        target = str(self.folder / f"ovs-vswitchd.{pid}.ctl")
        return self._run("ovs-appctl", "--target", target, *arguments)

    def push_statistics(self) -> None:
        """Make the flow counters current: the daemon collects them lazily."""
        if len(self._processes) < 2:
            return
        with contextlib.suppress(NetworkError):
            self.appctl("revalidator/purge")

    def await_revalidation(self) -> None:
        """Wait until the kernel's cached decisions follow the flow tables.

        A barrier confirms the tables only; until the daemon has gone over its cache, packets of known flows
        still leave by the old port, and at a link that is down they are lost.
        """
        self.appctl("revalidator/wait")

    def stop(self) -> None:
        """End both processes and forget the folder; safe to call again."""
        for process in reversed(self._processes):
            _end(process)
        self._processes.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _spawn(self, program: str, *arguments: str) -> None:
        log = self._logs / f"{program}.log"
        argv = [program, *arguments, "-vconsole:off", "-vsyslog:off", "-vfile:warn", f"--log-file={log}"]
        with (self.folder / f"{program}.out").open("wb") as output, namespaces.inside(self._place):
            process = subprocess.Popen(
                argv,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._processes.append(process)
        self._record.process(program, process.pid)

    def _wait_for(self, path: Path, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while not path.exists():
            if self._processes[-1].poll() is not None or time.monotonic() > deadline:
                raise NetworkError(f"{self._processes[-1].args!r} did not start{self._last_words()}")
            time.sleep(0.01)

    def _run(self, *argv: str) -> str:
        with namespaces.inside(self._place):
            result = subprocess.run(
                argv, env=self.environment, capture_output=True, text=True,
                start_new_session=True,  # a Ctrl-C is for the runner, which then ends everything in order
            )  # fmt: skip
        if result.returncode != 0:
            command = " ".join(argv[:6])
            raise NetworkError(f"{command} ... failed: {result.stderr.strip()}{self._last_words()}")
        return result.stdout

    def _last_words(self) -> str:
        said = [*sorted(self._logs.glob("ovs*.log")), *sorted(self.folder.glob("*.out"))]
        parts = [path.read_text(errors="replace") for path in said]
        lines = "".join(parts).splitlines()[-8:]
        return "; its log ends:\n  " + "\n  ".join(lines) if lines else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def transaction(bridges: Mapping[str, tuple[int, Sequence[tuple[str, int]]]], controller: str) -> list[str]:
    """Arguments of the one `ovs-vsctl` that makes all bridges (name -> datapath id, ports)."""
    arguments: list[str] = []
    for bridge, (dpid, ports) in bridges.items():
        arguments += ["--", "add-br", bridge]
        arguments += ["--", "set", "Bridge", bridge, "fail_mode=secure", "protocols=OpenFlow10,OpenFlow13"]
        arguments += [f"other_config:datapath-id={dpid:016x}", "other_config:disable-in-band=true"]
        for port, number in ports:
            arguments += [
                "--",
                "add-port",
                bridge,
                port,
                "--",
                "set",
                "Interface",
                port,
                f"ofport_request={number}",
            ]
        if controller:
            arguments += ["--", f"--id=@{bridge}", "create", "Controller", f'target="{controller}"']
            arguments += ["inactivity_probe=0", "max_backoff=1000", "--", "set", "Bridge", bridge]
            arguments += [f"controller=@{bridge}"]
    return arguments[1:]
