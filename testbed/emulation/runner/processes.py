"""The processes of the run: their births, control channels and deaths.

Several clients live in one process per host (the load driver), so a plan id is a process or a part of one;
whoever calls sees plan ids only.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from broker_grpc.process.clock import RunClock
from testbed.emulation.runner.child import Birth
from testbed.emulation.runner.loop import Loop
from testbed.emulation.runner.nursery import Nursery, Report
from testbed.errors import RunFailed
from testbed.run import configs
from testbed.run.folder import RunFolder
from testbed.run.stimuli import (
    BrokerLook,
    ClientLook,
    Look,
    ProcessEnded,
    ProcessReady,
    Stimulus,
)
from testbed.topology.plan import Plan

LOG_LINES = 12
OUT_OF_MEMORY = "the kernel ran out of memory during the run (fix: --memory MB gives a guest more)"
READ = 1 << 16
LOOK_LIMIT_US = 10_000_000  # a process that does not answer by then is left out of the look
STOP_LIMIT_US = 20_000_000  # a process that has not ended by then is killed
STOP_EACH_US = 1_000_000  # and so much more for each one that ends at the same time


class Process:
    """A live child of the nursery."""

    def __init__(self, birth: Birth, control: socket.socket | None) -> None:
        self.birth = birth
        self.control = control
        self.pid = 0
        self.ready = False
        self.partial = b""
        self.clients: dict[str, str] = {}  # driver: client id -> wanted, started
        self.stop_by_us: int | None = None


class Processes:
    def __init__(
        self,
        plan: Plan,
        folder: RunFolder,
        clock: RunClock,
        loop: Loop,
        nursery: Nursery,
        notify: Callable[[Stimulus], None],
        tls: dict[str, dict[str, str]] | None = None,
    ) -> None:
        self.plan, self.folder, self.clock, self.loop, self.nursery = plan, folder, clock, loop, nursery
        self.notify = notify
        self.tls = tls or {}
        self.brokers = {broker.id: broker for broker in plan.brokers}
        self.clients = {client.id: client for client in plan.clients}
        self.programs = {program.id: program for program in plan.programs}
        self.alive: dict[str, Process] = {}  # by process id
        self.look = Look()  # what the processes said last
        self.largest_rss_kb: dict[str, int] = {}
        self._by_key: dict[int, Process] = {}
        self._incarnations: dict[str, int] = {}
        self._waiting: set[str] = set()  # process ids whose status is awaited
        self._looked: Callable[[Look], None] | None = None
        self._look_by_us: int | None = None
        self._exit_watch: dict[int, Callable[[int, str], None]] = {}
        self._configs = folder.path / "processes"
        self._configs.mkdir(exist_ok=True)
        self._killed_for_memory = killed_for_memory()
        loop.watch(nursery, self._read_nursery)

    # ------------------------------------------------------------ starting

    def start(self, ids: Iterable[str]) -> None:
        """In the given order; clients of one host together."""
        by_node: dict[str, list[str]] = {}
        for process in ids:
            if process in self.brokers:
                self._start_broker(process)
            elif process in self.clients:
                by_node.setdefault(self.clients[process].node, []).append(process)
            else:
                self._start_program(process)
        for node, clients in by_node.items():
            self._start_clients(node, clients)

    def _start_broker(self, id: str) -> None:
        broker = self.brokers[id]
        config = configs.broker_config(
            self.plan, broker, self._next_incarnation(id), self.folder.events,
            self.clock.offset_us, self.tls.get(id),
        )  # fmt: skip
        self._fork(Birth(0, id, "broker", broker.node, "", self._write_config(id, config)))

    def _start_clients(self, node: str, clients: list[str]) -> None:
        driver = configs.driver_id(node)
        process = self.alive.get(driver)
        if process is None:
            config = configs.driver_config(
                self.plan, node, self.folder.events, self.clock.offset_us, self.tls.get(driver)
            )
            self._next_incarnation(driver)
            birth = Birth(0, driver, "driver", node, "", self._write_config(driver, config))
            process = self._fork(birth)
        for client in clients:
            process.clients[client] = "wanted"
        if process.ready:
            self._tell(process, {"do": "start", "clients": clients})

    def _start_program(self, id: str) -> None:
        program = self.programs[id]
        birth = Birth(
            0,
            id,
            "program",
            program.node,
            "",
            argv=program.argv,
            env=program.env,
            folder=str(self.folder.path),
        )
        self._fork(birth)

    def run_check(self, argv: list[str], node: str, done: Callable[[int, str], None]) -> None:
        """Run a command on a host and say how it ended: exit code and the last lines of its output."""
        birth = Birth(0, "gate-check", "program", node, "", argv=argv, folder=str(self.folder.path))
        self._exit_watch[self._fork(birth).birth.key] = done

    def run_for_somebody(self, birth: Birth, stdio: list[int], done: Callable[[int, str], None]) -> None:
        """Run a command on a host with somebody else's input and output; it is no part of the run."""
        birth.key = len(self._by_key) + 1
        birth.id = f"visitor-{birth.key}"
        process = Process(birth, None)
        self._by_key[birth.key] = self.alive[birth.id] = process
        self._exit_watch[birth.key] = done
        self.nursery.fork(birth, stdio)

    def _next_incarnation(self, id: str) -> int:
        self._incarnations[id] = self._incarnations.get(id, 0) + 1
        return self._incarnations[id]

    def _write_config(self, id: str, config: configs.Config) -> str:
        path = self._configs / f"{id}.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(config), indent=1))
        return str(path)

    def _fork(self, birth: Birth) -> Process:
        birth.key = len(self._by_key) + 1
        birth.log = str(self._log(birth.id))
        ours = theirs = None
        if birth.kind != "program":
            ours, theirs = socket.socketpair()
            ours.setblocking(False)
        process = Process(birth, ours)
        self._by_key[birth.key] = self.alive[birth.id] = process
        self.nursery.fork(birth, [theirs.fileno()] if theirs else [])
        if ours is not None and theirs is not None:
            theirs.close()
            self.loop.watch(ours, lambda: self._hear_out(process))
        return process

    def _log(self, id: str) -> Path:
        return self.folder.logs / f"{id}.log"

    # ------------------------------------------------------------ stopping

    def stop(self, ids: Iterable[str], wanted: str = "stop") -> None:
        """Ask nicely (`stop`) or drop at once (`kill`): brokers, clients, programs."""
        by_driver: dict[str, list[str]] = {}
        for id in ids:
            if id in self.clients:
                by_driver.setdefault(configs.driver_id(self.clients[id].node), []).append(id)
            elif id in self.alive:
                self._end(self.alive[id], wanted)
        for driver, clients in by_driver.items():
            if driver in self.alive:
                self._tell(self.alive[driver], {"do": wanted, "clients": clients})

    def _end(self, process: Process, wanted: str) -> None:
        if wanted == "kill":
            self.nursery.signal(process.birth.key, signal.SIGKILL)
            return
        process.stop_by_us = self.clock.now_us() + STOP_LIMIT_US
        if process.birth.kind == "program":
            self.nursery.signal(process.birth.key, signal.SIGTERM)
            return
        if process.birth.kind == "broker":
            self._tell(process, {"do": "drain"})
        self._tell(process, {"do": "shutdown"})

    def end_all(self, kind: str) -> list[str]:
        """End every process of a kind, and wait. Returns the ids that had to be killed."""
        ending = [process for process in self.alive.values() if process.birth.kind == kind]
        for process in ending:
            self._end(process, "stop")
        limit = self.clock.now_us() + STOP_LIMIT_US + STOP_EACH_US * len(ending)
        if self.loop.until(lambda: not self._any_alive(ending), limit):
            return []
        stubborn = [process for process in ending if process.birth.id in self.alive]
        for process in stubborn:
            self._end(process, "kill")
        self.loop.until(lambda: not self._any_alive(ending), limit + STOP_LIMIT_US)
        return [process.birth.id for process in stubborn]

    def _any_alive(self, processes: list[Process]) -> bool:
        return any(self.alive.get(process.birth.id) is process for process in processes)

    def quiet(self) -> None:
        """Publishers publish no more."""
        for process in self.alive.values():
            if process.birth.kind == "driver":
                self._tell(process, {"do": "quiet"})

    # ------------------------------------------------------------ looking

    def take_look(
        self, looked: Callable[[Look], None], kinds: tuple[str, ...] = ("broker", "driver")
    ) -> None:
        """Ask every live process of these kinds for its status; `looked` gets the answers."""
        self._looked = looked
        self._look_by_us = self.clock.now_us() + LOOK_LIMIT_US
        if "broker" in kinds:
            self.look.brokers = {}
        self.look.clients = {}
        for process in self.alive.values():
            if process.birth.kind in kinds and process.ready:
                self._waiting.add(process.birth.id)
                self._tell(process, {"do": "status"})
        self._complete_look()

    @property
    def looking(self) -> bool:
        return self._looked is not None

    def _complete_look(self) -> None:
        if self._looked is not None and not self._waiting:
            looked, self._looked, self._look_by_us = self._looked, None, None
            looked(Look(dict(self.look.brokers), dict(self.look.clients)))

    def next_deadline_us(self) -> int | None:
        limits = [process.stop_by_us for process in self.alive.values() if process.stop_by_us is not None]
        if self._look_by_us is not None:
            limits.append(self._look_by_us)
        return min(limits, default=None)

    def deadline(self, now_us: int) -> None:
        """Give up on answers and ends that are overdue."""
        if self._look_by_us is not None and now_us >= self._look_by_us:
            self._waiting.clear()
            self._complete_look()
        for process in list(self.alive.values()):
            if process.stop_by_us is not None and now_us >= process.stop_by_us:
                process.stop_by_us = None
                self._end(process, "kill")

    # ------------------------------------------------------------ what the processes say

    def _tell(self, process: Process, order: dict[str, Any]) -> None:
        if process.control is None:
            return  # its line has ended before it: the nursery's report of its death follows
        process.control.setblocking(True)
        try:
            process.control.sendall(msgspec.json.encode(order) + b"\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has just died; the nursery's report follows
        finally:
            process.control.setblocking(False)

    def _hear_out(self, process: Process) -> None:
        """All it has said so far."""
        while self._read_control(process):
            pass

    def _read_control(self, process: Process) -> bool:
        """Hear some of what it has said; whether there was anything."""
        if process.control is None:
            return False  # closed by a report of its death in the same turn of the loop
        try:
            data = process.control.recv(READ)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            data = b""
        if not data:
            self._close_control(process)
            return False
        *lines, process.partial = (process.partial + data).split(b"\n")
        for line in lines:
            self._hear(process, msgspec.json.decode(line))
        return True

    def _close_control(self, process: Process) -> None:
        if process.control is not None:
            self.loop.unwatch(process.control)
            process.control.close()
            process.control = None

    def _hear(self, process: Process, said: dict[str, Any]) -> None:
        if "status" in said:
            self._hear_status(process, said["status"])
            return
        event, client = said.get("event"), said.get("client", "")
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
            self._tell(process, {"do": "start", "clients": list(process.clients)})
        else:
            self.notify(ProcessReady(process.birth.id))

    def _hear_status(self, process: Process, status: dict[str, Any]) -> None:
        if process.birth.kind == "broker":
            self.look.brokers[process.birth.id] = msgspec.convert(status, BrokerLook)
        else:
            self.look.clients |= msgspec.convert(status["clients"], dict[str, ClientLook])
        self._waiting.discard(process.birth.id)
        self._complete_look()

    # ------------------------------------------------------------ what the nursery says

    def _read_nursery(self) -> None:
        reports = self.nursery.reports()
        if not reports:
            raise RunFailed("the process that starts all others has vanished", hint="is memory exhausted?")
        for report in reports:
            process = self._by_key[report.key]
            if report.what == "forked":
                process.pid = report.pid
                if process.birth.kind == "program" and report.key not in self._exit_watch:
                    process.ready = True
                    self.notify(ProcessReady(process.birth.id))
            else:
                self._ended(process, report)

    def _ended(self, process: Process, report: Report) -> None:
        id = process.birth.id
        self._hear_out(process)  # its last words come before its death
        self._close_control(process)  # a child of its own may hold the other end open: that is not waited for
        self.alive.pop(id, None)
        self.largest_rss_kb[id] = max(report.rss_kb, self.largest_rss_kb.get(id, 0))
        self._waiting.discard(id)
        self._complete_look()
        detail = last_lines(self._log(id))
        if report.code == -signal.SIGKILL and killed_for_memory() > self._killed_for_memory:
            detail = f"{OUT_OF_MEMORY}\n{detail}".rstrip()
        if report.key in self._exit_watch:
            self._exit_watch.pop(report.key)(report.code, detail)
            return
        for part in list(process.clients) if process.birth.kind == "driver" else [id]:
            self.notify(ProcessEnded(part, report.code, detail))


def killed_for_memory(vmstat: Path = Path("/proc/vmstat")) -> int:
    """How many processes the kernel has ended since boot because there was no memory left."""
    for line in vmstat.read_text(encoding="ascii").splitlines():
        name, _, count = line.partition(" ")
        if name == "oom_kill":
            return int(count)
    return 0


def last_lines(log: Path, count: int = LOG_LINES) -> str:
    """The end of a log, for a person who wants to know why the process died."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 8192))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-count:])
