"""tcpdump on the interfaces of the plan's captured hosts: what to start, and how it went.

Every packet is in exactly one file. A link has two ends, so a host's file has what the host *sends*, plus
what arrives from hosts that are not captured themselves (clients on a host without a broker). Between brokers
of one host the traffic crosses the loopback, which is captured there; tcpdump shows each of its packets once.

Who sent a packet is told by its source address: libpcap's own `outbound` looks only at what the kernel says
beside the packet, which it does not have for the packets that it filters itself at the start of a capture.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from protos.records import CaptureFile
from testbed.emulation.network import namespaces
from testbed.emulation.network.created import Record
from testbed.emulation.network.errors import NetworkError
from testbed.emulation.network.wiring import Wiring
from testbed.emulation.readable import readable
from testbed.run.folder import RunFolder
from testbed.topology.plan import Plan

BUFFER_KILOBYTES = 2048
BLOCK_TIMEOUT_SECONDS = 1.0  # tcpdump sees a packet at the latest so long after the kernel does
COUNTS = {
    "packets": re.compile(r"(\d+) packets? captured"),
    "dropped": re.compile(r"(\d+) packets? dropped by kernel"),
}


@dataclass(frozen=True, slots=True)
class CaptureJob:
    node: str
    interface: str
    filter: str
    file: str  # in the run folder's pcap/


def jobs(plan: Plan, wiring: Wiring) -> list[CaptureJob]:
    """What to capture by the plan. Pure."""
    if not plan.capture.enabled or not plan.brokers:
        return []
    with_broker = {broker.node for broker in plan.brokers}
    chosen = [node for node in wiring.nodes if node in (set(plan.capture.nodes) or with_broker)]
    ports = _port_filter(sorted({broker.port for broker in plan.brokers}))
    talkers = with_broker | {client.node for client in plan.clients}
    unseen = sorted(wiring.nodes[node].address for node in talkers - set(chosen))
    found = []
    for node in chosen:
        senders = " or ".join(f"src host {address}" for address in [wiring.nodes[node].address, *unseen])
        for interface in wiring.of_node[node]:
            name = f"{node}-eth{interface.port}.pcap"
            found.append(CaptureJob(node, interface.name, f"{ports} and ({senders})", name))
        if _talks_to_itself(plan, node):
            found.append(CaptureJob(node, "lo", ports, f"{node}-lo.pcap"))
    return found


def _talks_to_itself(plan: Plan, node: str) -> bool:
    here = [broker.id for broker in plan.brokers if broker.node == node]
    clients = plan.capture.clients and any(client.node == node for client in plan.clients)
    return len(here) > 1 or (bool(here) and clients)


def _port_filter(ports: list[int]) -> str:
    if len(ports) > 8:
        return f"tcp portrange {ports[0]}-{ports[-1]}"
    return "(" + " or ".join(f"tcp port {port}" for port in ports) + ")"


class Capture:
    """Running tcpdumps. `start` returns when all of them listen; `stop` when all files are complete."""

    def __init__(self, plan: Plan, run_folder: RunFolder, places: Mapping[str, Path], record: Record) -> None:
        self._plan = plan
        self._run_folder = run_folder
        self._places = places
        self._record = record
        self._running: list[tuple[CaptureJob, subprocess.Popen[str]]] = []

    def start(self, wanted: list[CaptureJob]) -> None:
        if wanted and shutil.which("tcpdump") is None:
            raise NetworkError(
                "tcpdump is not installed", hint="install it, or set capture: {enabled: false}"
            )
        for job in wanted:
            with namespaces.inside(self._places[job.node]):
                process = subprocess.Popen(
                    self._command(job),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                    start_new_session=True,
                )
            self._running.append((job, process))
        self._record.processes((f"tcpdump {job.file}", process.pid) for job, process in self._running)
        for job, process in self._running:
            _await_listening(job, process)

    def _command(self, job: CaptureJob) -> list[str]:
        settings = self._plan.capture
        command = ["tcpdump", "-i", job.interface, "-n", "-p", "-Z", owner(self._run_folder.pcap)]
        command += ["-B", str(BUFFER_KILOBYTES)]
        command += ["--time-stamp-precision=nano", "-s", str(settings.snap_length)]
        if settings.ring_megabytes:
            command += ["-C", str(max(1, settings.ring_megabytes // 2)), "-W", "2"]
        return [*command, "-w", str(self._run_folder.pcap / job.file), job.filter]

    def stop(self) -> list[CaptureFile]:
        """End all of them; the second call answers an empty list."""
        if not self._running:
            return []
        time.sleep(BLOCK_TIMEOUT_SECONDS + 0.2)
        for _job, process in self._running:
            process.send_signal(signal.SIGINT)
        found = [file for job, process in self._running for file in self._result(job, process)]
        self._running.clear()
        return found

    def _result(self, job: CaptureJob, process: subprocess.Popen[str]) -> Iterator[CaptureFile]:
        try:
            _out, said = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            _out, said = process.communicate()
        (self._run_folder.logs / f"tcpdump-{job.file}.log").write_text(said)
        counts = {what: _number(pattern, said) for what, pattern in COUNTS.items()}
        for path in sorted(self._run_folder.pcap.glob(f"{job.file}*")):
            name = str(path.relative_to(self._run_folder.path))
            length = self._plan.capture.snap_length
            yield CaptureFile(name, job.node, job.interface, counts["packets"], counts["dropped"], length)


def owner(folder: Path) -> str:
    """Whom tcpdump is to become and give its file to.

    In a guest it runs as root, but its file is on the host, where a plain user may give nothing to root.
    """
    try:
        return folder.owner()
    except KeyError:  # a number without a name, as in some containers
        return "root"


def _number(pattern: re.Pattern[str], said: str) -> int:
    found = pattern.search(said)
    return int(found[1]) if found else -1


def _await_listening(job: CaptureJob, process: subprocess.Popen[str], seconds: float = 60) -> None:
    """tcpdump says so on its error output, once packets are being taken."""
    assert process.stderr is not None
    while True:
        line = process.stderr.readline() if readable([process.stderr], seconds) else ""
        if "listening on" in line:
            return
        if not line:
            process.kill()
            raise NetworkError(
                f"tcpdump on {job.node} ({job.interface}) did not start: {process.communicate()[1]}"
            )
        if "error" in line.lower() or "syntax" in line.lower():
            raise NetworkError(f"tcpdump on {job.node} ({job.interface}): {line.strip()}")
