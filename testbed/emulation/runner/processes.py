"""The processes of the run: who is alive, what they say, and who must hear of it.

Several clients live in one process per host (the load driver), so a plan id is a process or a part of one;
whoever calls sees plan ids only.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from broker_grpc.process.clock import RunClock
from testbed.emulation.runner.births import Births, Tls
from testbed.emulation.runner.child import Birth
from testbed.emulation.runner.endings import Endings
from testbed.emulation.runner.last_words import LastWords
from testbed.emulation.runner.live_process import ControlLine, Process, Said
from testbed.emulation.runner.looks import Looks
from testbed.emulation.runner.loop import Loop
from testbed.emulation.runner.nursery import Nursery, Report
from testbed.errors import RunFailed
from testbed.run.configs import driver_id
from testbed.run.folder import RunFolder
from testbed.run.stimuli import Look, OverlayChanged, ProcessEnded, ProcessReady, Stimulus
from testbed.topology.plan import Plan

Done = Callable[[int, str], None]  # exit code, last lines of the output


class Processes:
    def __init__(
        self,
        plan: Plan,
        folder: RunFolder,
        clock: RunClock,
        loop: Loop,
        nursery: Nursery,
        notify: Callable[[Stimulus], None],
        tls: Tls | None = None,
    ) -> None:
        self.folder, self.loop, self.nursery, self.notify = folder, loop, nursery, notify
        self.alive: dict[str, Process] = {}  # by process id
        self._brokers = {broker.id for broker in plan.brokers}
        self._clients = {client.id: client.node for client in plan.clients}
        self._by_key: dict[int, Process] = {}
        self._births = Births(plan, folder, clock.offset_us, tls or {})
        self._looks = Looks(clock)
        self._endings = Endings(clock, loop, nursery, self.alive)
        self._last_words = LastWords()
        self._exit_watch: dict[int, Done] = {}
        loop.watch(nursery, self._read_nursery)

    # ------------------------------------------------------------ starting

    def start(self, ids: Iterable[str]) -> None:
        """In the given order; clients of one host together."""
        by_node: dict[str, list[str]] = {}
        for id in ids:
            if id in self._brokers:
                self._fork(self._births.broker(id))
            elif id in self._clients:
                by_node.setdefault(self._clients[id], []).append(id)
            else:
                self._fork(self._births.program(id))
        for node, clients in by_node.items():
            self._start_clients(node, clients)

    def _start_clients(self, node: str, clients: list[str]) -> None:
        process = self.alive.get(driver_id(node)) or self._fork(self._births.driver(node))
        for client in clients:
            process.clients[client] = "wanted"
        if process.ready:
            process.tell({"do": "start", "clients": clients})

    def run_check(self, argv: list[str], node: str, done: Done) -> None:
        """Run a command on a host and say how it ended: exit code and the last lines of its output."""
        process = self._fork(self._births.gate_check(argv, node))
        self._exit_watch[process.birth.key] = done

    def run_for_somebody(self, birth: Birth, stdio: list[int], done: Done) -> None:
        """Run a command on a host with somebody else's input and output; it is no part of the run."""
        birth.key = len(self._by_key) + 1
        birth.id = f"visitor-{birth.key}"
        self._exit_watch[birth.key] = done
        self._enter(birth)
        self.nursery.fork(birth, stdio)

    def _fork(self, birth: Birth) -> Process:
        birth.key = len(self._by_key) + 1
        birth.log = str(self._log(birth.id))
        process = self._enter(birth)
        if birth.kind == "program":
            self.nursery.fork(birth, [])
            return process
        ours, theirs = socket.socketpair()
        with theirs:
            self.nursery.fork(birth, [theirs.fileno()])
        self._connect(process, ours)
        return process

    def _enter(self, birth: Birth) -> Process:
        process = Process(birth)
        self._by_key[birth.key] = self.alive[birth.id] = process
        return process

    def _connect(self, process: Process, ours: socket.socket) -> None:
        process.line = ControlLine(ours, self.loop, partial(self._hear, process))

    def _log(self, id: str) -> Path:
        return self.folder.logs / f"{id}.log"

    # ------------------------------------------------------------ stopping

    def stop(self, ids: Iterable[str], wanted: str = "stop") -> None:
        """Ask nicely (`stop`) or drop at once (`kill`): brokers, clients, programs."""
        by_driver: dict[str, list[str]] = {}
        for id in ids:
            if id in self._clients:
                by_driver.setdefault(driver_id(self._clients[id]), []).append(id)
            elif id in self.alive:
                self._endings.end(self.alive[id], wanted)
        for driver, clients in by_driver.items():
            if driver in self.alive:
                self.alive[driver].tell({"do": wanted, "clients": clients})

    def end_all(self, kind: str) -> list[str]:
        """End every process of a kind, and wait. Returns the ids that had to be killed."""
        return self._endings.end_all(kind)

    def quiet(self) -> None:
        """Publishers publish no more."""
        for process in self.alive.values():
            if process.birth.kind == "driver":
                process.tell({"do": "quiet"})

    def instruct(self, broker: str, name: str, arguments: dict[str, Any], acquaint: list[str]) -> None:
        """Tell a broker to do something; `acquaint`: brokers that are to know where each other is."""
        for known in acquaint:
            if known in self.alive:
                self.alive[known].tell({"do": "acquaint", "brokers": self._births.addresses_of(acquaint)})
        if broker in self.alive:
            self.alive[broker].tell({"do": "instruct", "name": name, "arguments": arguments})

    # ------------------------------------------------------------ looking, and what is overdue

    def take_look(
        self, looked: Callable[[Look], None], kinds: tuple[str, ...] = ("broker", "driver")
    ) -> None:
        """Ask every live process of these kinds for its status; `looked` gets the answers."""
        self._looks.take(self.alive.values(), looked, kinds)

    @property
    def looking(self) -> bool:
        return self._looks.under_way

    def next_deadline_us(self) -> int | None:
        limits = (self._looks.limit_us, self._endings.next_deadline_us())
        return min((limit for limit in limits if limit is not None), default=None)

    def deadline(self, now_us: int) -> None:
        """Give up on answers and ends that are overdue."""
        self._looks.give_up(now_us)
        self._endings.kill_overdue(now_us)

    # ------------------------------------------------------------ what the processes say

    def _hear(self, process: Process, said: Said) -> None:
        if "status" in said:
            self._looks.answered(process, said["status"])
            return
        event, client = said.get("event"), said.get("client", "")
        if event == "overlay":
            changed = OverlayChanged(said["change"], tuple(said["added"]), tuple(said["removed"]))
            self._births.overlay_changed(changed)
            self.notify(changed)
        if event == "ready":
            self._hear_ready(process)
        elif event == "started":
            process.clients[client] = "started"
            self.notify(ProcessReady(client))
        elif event in ("failed", "stopped"):
            process.clients.pop(client, None)
            self.notify(ProcessEnded(client, 1 if event == "failed" else 0, said.get("detail", "")))

    def _hear_ready(self, process: Process) -> None:
        process.ready = True
        if process.birth.kind == "driver":
            process.tell({"do": "start", "clients": list(process.clients)})
        else:
            self.notify(ProcessReady(process.birth.id))

    # ------------------------------------------------------------ what the nursery says

    def _read_nursery(self) -> None:
        reports = self.nursery.reports()
        if not reports:
            raise RunFailed("the process that starts all others has vanished", hint="is memory exhausted?")
        for report in reports:
            process = self._by_key[report.key]
            if report.what == "ended":
                self._ended(process, report)
            elif process.birth.kind == "program" and report.key not in self._exit_watch:
                process.ready = True
                self.notify(ProcessReady(process.birth.id))

    def _ended(self, process: Process, report: Report) -> None:
        id = process.birth.id
        if process.line is not None:
            process.line.hear_out()  # its last words come before its death
            process.line.close()  # a child of its own may hold the other end open: that is not waited for
        self.alive.pop(id, None)
        self._looks.gone(id)
        detail = self._last_words.of(self._log(id), report.code)
        if report.key in self._exit_watch:
            self._exit_watch.pop(report.key)(report.code, detail)
            return
        for part in list(process.clients) if process.birth.kind == "driver" else [id]:
            self.notify(ProcessEnded(part, report.code, detail))
