"""`EmulatedNetwork`: the network of a plan, from nothing to up to nothing again."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from protos.records import CaptureFile
from testbed.emulation.controller.config import ControllerConfig, SwitchPorts
from testbed.emulation.controller.handle import ControllerHandle
from testbed.emulation.network import capture, namespaces, verification
from testbed.emulation.network.batched import BatchedMininet, Hooks
from testbed.emulation.network.capture import Capture
from testbed.emulation.network.created import Record
from testbed.emulation.network.echo import PROBE_BYTES, UNKNOWN
from testbed.emulation.network.errors import NetworkError
from testbed.emulation.network.fabric import SWITCHES, Fabric
from testbed.emulation.network.ovs import OpenVSwitch, transaction
from testbed.emulation.network.prober import ProbePair, ProberConfig
from testbed.emulation.network.probes import Probes, sending_us
from testbed.emulation.network.wiring import Wiring, wire
from testbed.errors import did_you_mean
from testbed.run.folder import RunFolder
from testbed.topology.plan import Plan

Progress = Callable[[str, int, int], None]
CONTROLLER_ADDRESS = "127.0.0.1:6653"  # inside the switch namespace, so runs cannot clash
OVS_FOLDER = Path("/run/pubsub-testbed")


def _silent(_what: str, _done: int, _of: int) -> None:
    pass


class EmulatedNetwork:
    """Wraps a real `mininet.net.Mininet` (`.mininet`). Needs root, netem and Open vSwitch on this kernel.

    `epoch_offset_us` turns CLOCK_MONOTONIC into the run's clock; None takes it from the real-time clock now.
    """

    def __init__(
        self,
        plan: Plan,
        run_folder: RunFolder,
        *,
        clock: Literal["virtual", "real"] = "real",
        epoch_offset_us: int | None = None,
        poll_every_us: int = 10_000_000,
    ) -> None:
        if os.geteuid() != 0:
            raise NetworkError("an emulated network needs root", hint="use the guest engine, which does not")
        self.plan = plan
        self.run_folder = run_folder
        self.clock = clock
        self.epoch_offset_us = _offset_us() if epoch_offset_us is None else epoch_offset_us
        self._poll_every_us = poll_every_us
        run_folder.create()
        self._record = Record(run_folder.path)
        token = "tb" + hashlib.sha256(bytes(run_folder.path.resolve())).hexdigest()[:8]
        self.wiring: Wiring = wire(plan.network)
        self.fabric = Fabric(plan.network, self.wiring, plan.seed, token, self._record)
        self._dpids = {node.id: number for number, node in enumerate(self.wiring.switches(), 1)}
        self._ovs = OpenVSwitch(
            OVS_FOLDER / token, run_folder.logs, self._record, self.fabric.namespaces[SWITCHES]
        )
        self._controller: ControllerHandle | None = None
        self._capture = Capture(plan, run_folder, self.fabric.namespaces, self._record)
        self._probes: Probes | None = None
        self._progress: Progress = _silent
        self._is_up = False
        hooks = Hooks(self._bring_up, self._take_down, self._change, self._set_link)
        self.mininet: Any = BatchedMininet(plan.network, self.fabric, self._dpids, hooks)

    # Up and down

    def up(self, progress: Progress | None = None) -> None:
        """Build everything, start the controller, wait for its flows, and check that packets get through."""
        self._progress = progress or _silent
        try:
            self.mininet.start()
            self.verify()
        except BaseException:
            self.down()
            raise

    def down(self) -> None:
        """Remove everything this run made; safe to call twice, and after a failed `up`."""
        self.mininet.stop()

    def _bring_up(self) -> None:
        steps: list[tuple[str, Callable[[], None]]] = [
            ("namespaces", self.fabric.create_namespaces),
            ("controller", self._start_controller),
            ("switch daemon", self._start_switch_daemon),
            ("links", self._create_links),
            ("hosts", self.fabric.configure_hosts),
            ("switches", self._create_bridges),
            ("shapes", self.fabric.shape_switches),
            ("flows", self._await_flows),
        ]
        for number, (name, step) in enumerate(steps):
            self._progress(name, number, len(steps))
            step()
        self._progress("up", len(steps), len(steps))
        self._is_up = True
        self.mininet.came_up(self._ovs.environment)

    def _create_links(self) -> None:
        names = [end.name for ends in self.wiring.ends.values() for end in ends]
        self._record.interfaces(names, list(self._dpids))
        self.fabric.create_links()

    def _start_switch_daemon(self) -> None:
        if self._dpids:
            self._ovs.start()

    def _create_bridges(self) -> None:
        bridges = {
            switch: (dpid, [(end.name, end.port) for end in self.wiring.of_node[switch]])
            for switch, dpid in self._dpids.items()
        }
        if not bridges:
            return
        if self._controller is not None:
            self._controller.wait_for("listening", 120)
        self._ovs.vsctl(*transaction(bridges, f"tcp:{CONTROLLER_ADDRESS}"))

    def _start_controller(self) -> None:
        if not self._dpids:
            return
        ports = {
            switch: SwitchPorts(
                dpid,
                {end.name: end.link for end in self.wiring.of_node[switch]},
                {end.name: end.peer for end in self.wiring.of_node[switch]},
            )
            for switch, dpid in self._dpids.items()
        }
        config = ControllerConfig(
            network=self.plan.network,
            addresses={host.id: host.address for host in self.wiring.hosts()},
            switches=ports,
            listen=CONTROLLER_ADDRESS,
            ports_file=str(self.run_folder.controller / "ports.jsonl"),
            flows_file=str(self.run_folder.controller / "flows.jsonl"),
            epoch_offset_us=self.epoch_offset_us,
            poll_every_us=self._poll_every_us,
        )
        config_file = self.run_folder.controller / "config.json"
        log_file = self.run_folder.logs / "controller.log"
        self._controller = ControllerHandle(config, config_file, log_file, self.fabric.namespaces[SWITCHES])
        self._record.process("controller", self._controller.pid)

    def _await_flows(self) -> None:
        if self._controller is not None:
            self._controller.wait_for("ready", 120)

    def _take_down(self) -> None:
        self.stop_probes()
        self.stop_capture()
        self.stop_controller()
        self._controller = None
        self._ovs.stop()
        self.fabric.remove()
        self._record.done()
        self._is_up = False

    def verify(self) -> None:
        """Every host reaches the next, and not faster than planned: no network is unshaped unnoticed."""
        verification.verify(self.fabric)

    def planned_rtt_us(self, one: str, other: str) -> int | None:
        """Round trip by the shortest path as the network is now; None when there is no way."""
        return self.fabric.rtt_us(one, other)

    # Processes

    def enter(self, node: str) -> None:
        """Move the calling process (a forked child) into the host's network namespace."""
        namespaces.enter(self._place(node))

    def run(
        self, node: str, argv: Sequence[str], *, timeout: float | None = None, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on a host and wait for it; output is captured as text unless told otherwise."""
        if not {"stdout", "stderr", "capture_output"} & options.keys():
            options["capture_output"] = True
        options.setdefault("text", True)
        with namespaces.inside(self._place(node)):
            return subprocess.run(list(argv), timeout=timeout, **options)

    def record_process(self, what: str, pid: int) -> None:
        """Have a process of the run ended by `testbed clean` should the harness die."""
        self._record.process(what, pid)

    def _place(self, node: str) -> Path:
        if node not in self.wiring.nodes:
            raise NetworkError(f"no node {node!r} in the network", hint=did_you_mean(node, self.wiring.nodes))
        return self.fabric.place(node)

    def stop_controller(self) -> None:
        """End the controller after a last reading of all counters; forwarding goes on."""
        if self._controller is not None and self._controller.running:
            self._ovs.push_statistics()
        if self._controller is not None:
            self._controller.stop()

    # What watches the network

    def start_capture(self) -> None:
        """tcpdump as the plan says; returns when all of them take packets."""
        self._capture.start(capture.jobs(self.plan, self.wiring))

    def stop_capture(self) -> list[CaptureFile]:
        return self._capture.stop()

    def start_probes(self) -> None:
        """Round trips between the plan's pairs from now on, into probes/*.jsonl."""
        if self._probes is not None or not self.plan.probes.pairs:
            return
        sources = {source for source, _target in self.plan.probes.pairs}
        planned = self._planned_for_probes()
        config = ProberConfig(
            pairs=[
                ProbePair(source, target, self.wiring.nodes[target].address, rtt)
                for (source, target), rtt in zip(self.plan.probes.pairs, planned, strict=True)
            ],
            namespaces={source: str(self._place(source)) for source in sources},
            folder=str(self.run_folder.probes),
            every_us=self.plan.probes.every_us,
            epoch_offset_us=self.epoch_offset_us,
        )
        logs = self.run_folder.logs
        self._probes = Probes(config, logs / "prober.json", logs / "prober.log")
        self._record.process("prober", self._probes.pid)

    def stop_probes(self) -> None:
        if self._probes is not None:
            self._probes.stop()
            self._probes = None

    def _planned_for_probes(self) -> list[int]:
        return [self._planned_for_probe(source, target) for source, target in self.plan.probes.pairs]

    def _planned_for_probe(self, source: str, target: str) -> int:
        """Latencies, and the time that a packet of its size takes onto links of limited bandwidth."""
        rtt = self.planned_rtt_us(source, target)
        there, back = self.fabric.path_links(source, target), self.fabric.path_links(target, source)
        if rtt is None or there is None or back is None:
            return UNKNOWN
        return rtt + round(sending_us([*there, *back], PROBE_BYTES))

    # Changes at run time

    def link_down(self, link_id: str) -> None:
        """Cut a link; the controller learns of it from its switches and re-routes."""
        self._set_link(self._link(link_id), False)

    def link_up(self, link_id: str) -> None:
        self._set_link(self._link(link_id), True)

    def _set_link(self, link_id: str, up: bool) -> None:
        self.fabric.set_link(link_id, up)
        self._replan()

    def reshape(
        self,
        link_id: str,
        *,
        latency_us: int | None = None,
        jitter_us: int | None = None,
        loss: float | None = None,
        bandwidth_bps: int | None = None,
        queue_packets: int | None = None,
    ) -> None:
        """Change what is given; packets under way keep their old delay and are not overtaken."""
        given = {
            "latency_us": latency_us,
            "jitter_us": jitter_us,
            "loss": loss,
            "bandwidth_bps": bandwidth_bps,
            "queue_packets": queue_packets,
        }
        self._change(self._link(link_id), {name: value for name, value in given.items() if value is not None})

    def _change(self, link_id: str, fields: dict[str, Any]) -> None:
        self.fabric.change(link_id, **fields)
        self.fabric.reshape(link_id)
        self._replan()

    def reshape_pairs(self, latencies: Iterable[tuple[str, str, int]]) -> None:
        """One-way latencies of host pairs, from now on."""
        self.fabric.reshape_pairs(latencies)
        self._replan()

    def partition(self, nodes: Iterable[str]) -> None:
        """Cut these nodes off from all others. Of a switch, the hosts at it are meant."""
        side: set[str] = set()
        for node in nodes:
            self._place(node)
            ends = self.wiring.of_node[node]
            if self.wiring.nodes[node].kind == "host":
                side.add(node)
            else:
                side |= {end.peer for end in ends if self.wiring.nodes[end.peer].kind == "host"}
        self.fabric.partition(side)
        self._replan()

    def heal(self) -> None:
        self.fabric.heal()
        self._replan()

    def _replan(self) -> None:
        if self._probes is not None:
            self._probes.replan(self._planned_for_probes())

    def _link(self, link_id: str) -> str:
        if link_id not in self.wiring.ends:
            raise NetworkError(
                f"no link {link_id!r} in the network", hint=did_you_mean(link_id, self.wiring.ends)
            )
        return link_id

    def await_routes(self, seconds: float = 30) -> None:
        """Wait until packets follow the links as they are now. For use after each change of a link."""
        if self._controller is not None:
            ends = {link: {end.node for end in self.wiring.ends[link]} for link in self.fabric.down}
            seen = sorted(link for link, nodes in ends.items() if nodes & self._dpids.keys())
            self._controller.await_routes_without(seen, seconds)
            self._ovs.await_revalidation()


def _offset_us() -> int:
    return (time.clock_gettime_ns(time.CLOCK_REALTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)) // 1_000
