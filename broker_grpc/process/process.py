"""A broker process: one machine, one gRPC server, one event log, one line to whoever started it.

`serve` is what a harness calls in a child process that is already where it should run (its network
namespace); people use `python -m broker_grpc --config FILE.json`. Both end with an exit code: 0 after a
graceful shutdown, 1 when the broker could not start or its machine failed.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from broker_grpc.core.config import addresses_of
from broker_grpc.core.limits import SERVER_GRACE_US, Limits, limits_from
from broker_grpc.core.links import hello_incarnation
from broker_grpc.errors import BrokerError
from broker_grpc.machine import Effect, Instructed, Machine, MeasureTrip, OverlayChanged
from broker_grpc.process.client_gate import ClientGate
from broker_grpc.process.clock import RunClock, is_virtual
from broker_grpc.process.control import ControlLine, Request
from broker_grpc.process.control_guard import ControlGuard
from broker_grpc.process.dialler import Dialler
from broker_grpc.process.eventlog import EventLog
from broker_grpc.process.eventloop import run, told_defect
from broker_grpc.process.handshake import hello
from broker_grpc.process.link_gate import LinkGate
from broker_grpc.process.runtime import Runtime
from broker_grpc.process.server import service_handlers
from broker_grpc.process.stopwatch import stopwatch_for
from broker_grpc.process.tls import TlsFiles
from broker_grpc.process.transport import new_server
from broker_grpc.process.trips import Trips
from protos.records import LogEvent

if TYPE_CHECKING:
    from broker_grpc.core.config import BrokerProcessConfig

DRAIN_AT_SHUTDOWN_US = 2_000_000


class CannotListen(BrokerError):
    """The address is taken, not ours, or not allowed."""

    reason = "listen"


class BrokerProcess:
    def __init__(self, config: BrokerProcessConfig, machine: Machine, control_fd: int | None = None) -> None:
        """Must be made inside a running event loop."""
        self.config = config
        self._machine = machine
        self._loop = asyncio.get_running_loop()
        self._tls = TlsFiles(**tls_fields(config.tls)) if config.tls else None
        limits = limits_from(config.options)
        guarded = self._tls is not None
        self._guard = ControlGuard(guarded, config.control_secret) if limits.control_service else None
        clock = RunClock(config.epoch_offset_us or None)
        events = config.events or os.devnull
        self.log = EventLog(
            events, config.broker, clock, on_first=self._flush_later, counting=config.counting
        )
        self._flush_s = limits.log_flush_us / 1e6
        self.runtime = Runtime(machine, clock, self.log, limits)
        self.runtime.stopwatch = None if is_virtual() else stopwatch_for(machine.measures)
        greeting = hello(config.broker, "broker", hello_incarnation(config.incarnation, 0))
        self._dialler = Dialler(
            config.broker, "broker", config.incarnation, self.runtime, seed=config.seed, tls=self._tls
        )
        self.runtime.links = self._dialler
        self.runtime.on_link = self._tell_link
        self.runtime.on_effect = self._owners_effect
        self._addresses = addresses_of(config)
        self._trips = Trips(self.runtime)
        self._clients = ClientGate(greeting, {config.broker, *self._addresses}, self.runtime)
        self._links = LinkGate(config.broker, self._dialler.crossing, self._addresses, self.runtime)
        self._server: Any = None
        self._control_fd = control_fd
        self._control: ControlLine | None = None
        self._stopping = asyncio.Event()
        self._loop.set_exception_handler(self._failed)
        self._failure: str = ""

    async def run(self) -> int:
        """Serve until told to stop."""
        await self._start()
        await self._stopping.wait()
        await self._stop()
        return 1 if self._failure else 0

    async def _start(self) -> None:
        config = self.config
        handlers = service_handlers(self._links, self._clients, self, self._guard)
        self._server = bind(config.listen, handlers, self.runtime.limits, self._tls)
        await self._server.start()
        self.log.write(LogEvent(kind="STARTED", detail=f"incarnation {config.incarnation}"))
        self.log.flush()  # a broker killed in its first second has been there all the same
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self.shut_down)
        if self._control_fd is not None:
            self._control = ControlLine(self._control_fd, self._requested, self.shut_down)
            self._control.send({"event": "ready"})
        for neighbour in config.neighbours:
            if neighbour.dial:
                self._dialler.open(neighbour.id, neighbour.address)
        self.runtime.act([])  # a machine may have to do something at a time that nothing else tells it

    async def _stop(self) -> None:
        self.runtime.act(self._machine.farewell(self.runtime.now_us()))
        await self.drain(DRAIN_AT_SHUTDOWN_US)
        self._trips.stop()
        await self._dialler.stop()
        await self._server.stop(SERVER_GRACE_US / 1e6)
        self.runtime.stop()
        self.log.write(LogEvent(kind="STOPPED", detail=self._failure))
        self.log.close()
        if self._control is not None:
            self._control.close()

    # ------------------------------------------------------------ what others ask of it

    def status(self) -> dict[str, Any]:
        """The fields of StatusAnswer."""
        runtime, known = self.runtime, self._machine.status()
        brokers = sorted(
            self._addresses.keys() | {s.peer for s in runtime.sessions.values() if s.kind == "broker"}
        )
        return msgspec.structs.asdict(known) | {
            "broker": self.config.broker,
            "incarnation": self.config.incarnation,
            "links": [self._link_status(peer, known.links.get(peer, False)) for peer in brokers],
            "clients": sum(session.kind == "client" for session in runtime.sessions.values()),
            "draining": self._clients.draining,
            "dropped": known.dropped + runtime.dropped,
            "deliveries": known.deliveries - runtime.unsent["NOTIFIED"],
        }

    def _link_status(self, peer: str, synced: bool) -> dict[str, Any]:
        session = self.runtime.sessions.get(peer)
        if session is None:
            return {"peer": peer, "up": False, "synced": False, "queued": 0, "dropped": 0}
        return {
            "peer": peer,
            "up": True,
            "synced": synced,
            "queued": session.queued,
            "dropped": session.dropped,
        }

    async def drain(self, timeout_us: int) -> int:
        """Take no new clients and empty the queues; returns how many messages are left after the time."""
        self._clients.draining = True
        try:
            async with asyncio.timeout(timeout_us / 1e6):
                await self._served()
                await asyncio.gather(*(session.drained() for session in self.runtime.sessions.values()))
        except TimeoutError:
            pass
        return self._machine.waiting + sum(session.queued for session in self.runtime.sessions.values())

    async def _served(self) -> None:
        """Returns when no message waits for the processor that the machine models."""
        while self._machine.waiting and (wait_s := self.runtime.until_deadline_s()) is not None:
            await asyncio.sleep(wait_s)

    def shut_down(self) -> None:
        self._stopping.set()

    def _requested(self, request: Request) -> None:
        match request.get("do"):
            case "status":
                self._answer({"status": self.status()})
            case "drain":
                self._draining = asyncio.create_task(self.drain(DRAIN_AT_SHUTDOWN_US))
            case "acquaint":
                self._addresses.update(request["brokers"])
            case "instruct":
                self.runtime.feed(Instructed(request["name"], request["arguments"]))
            case "shutdown":
                self.shut_down()

    def _tell_link(self, peer: str, up: bool) -> None:
        self._answer({"event": "link", "peer": peer, "up": up})

    def _owners_effect(self, effect: Effect) -> None:
        if isinstance(effect, OverlayChanged):
            self._answer({"event": "overlay", **msgspec.structs.asdict(effect)})
        elif isinstance(effect, MeasureTrip):
            self._trips.measure(effect.peer, self._addresses.get(effect.peer, ""))

    def _answer(self, message: Request) -> None:
        if self._control is not None:
            self._control.send(message)

    # ------------------------------------------------------------ inside

    def _flush_later(self) -> None:
        self._loop.call_later(self._flush_s, self.log.flush)

    def _failed(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Whatever reaches this is a defect: say it and stop, rather than run on in an unknown state."""
        if failure := told_defect(f"broker {self.config.broker}", context):
            self._failure = self._failure or failure
            self.shut_down()


def bind(address: str, handlers: Sequence[Any], limits: Limits, tls: TlsFiles | None) -> Any:
    if tls is None and _means_all_addresses(address):
        raise CannotListen(f"{address!r}: without TLS a broker listens only on an address of its own")
    try:
        return new_server(address, handlers, limits, tls)
    except RuntimeError as error:
        raise CannotListen(f"cannot listen on {address}: {error}") from None


def _means_all_addresses(address: str) -> bool:
    """Asked of the resolver, as gRPC will: `0`, `::` and an empty host all mean every address."""
    host = address.rpartition(":")[0].strip("[]")
    if host in ("", "*"):
        return True
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False  # gRPC says what is wrong with it
    return any(ipaddress.ip_address(str(one[4][0])).is_unspecified for one in found)


def tls_fields(tls: Any) -> dict[str, str]:
    if isinstance(tls, dict):
        return tls
    return {"ca": tls.ca, "cert": tls.cert, "key": tls.key}


async def run_broker(config: BrokerProcessConfig, control_fd: int | None = None) -> int:
    from broker_grpc.registry import machine_of

    return await BrokerProcess(config, machine_of(config), control_fd).run()


def run_to_exit_code(config: BrokerProcessConfig, control_fd: int | None = None) -> int:
    try:
        return run(run_broker(config, control_fd))
    except BrokerError as error:
        print(f"error: broker {config.broker}: {error}", file=sys.stderr)
        return 1


def serve(config: BrokerProcessConfig, control_fd: int) -> NoReturn:
    """The body of a forked child: never comes back to the parent's code."""
    code = 1
    try:
        code = run_to_exit_code(config, control_fd)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
