"""The load driver: many publishers and subscribers in one process, each with streams of its own.

`serve` is what the runner calls in a child that is already in its host's network namespace; it talks JSON
lines over `control_fd`. `python -m testbed.workload.driver --config FILE.json` runs the same clients alone.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from broker_grpc.core.limits import Limits
from broker_grpc.errors import BrokerError
from broker_grpc.process.clock import RunClock
from broker_grpc.process.control import ControlLine, Request
from broker_grpc.process.eventlog import EventLog
from broker_grpc.process.eventloop import run, told_defect
from broker_grpc.process.tls import TlsFiles
from broker_grpc.registry import registry
from protos.records import LogEvent
from testbed.errors import InputError, TestbedError
from testbed.topology.plan import Client
from testbed.workload.load_client import LoadClient

LOG_FLUSH_S = Limits().log_flush_us / 1e6
PATIENCE_S = 5.0


class DriverConfig(msgspec.Struct, omit_defaults=True):
    """All that a load driver needs to know."""

    node: str  # host
    clients: list[Client]
    brokers: dict[str, str]  # address of every broker, also of those a publisher may migrate to
    events_folder: str
    epoch_offset_us: int = 0
    tls: TlsFiles | None = None  # a certificate that names every client of this driver


class Driver:
    def __init__(self, config: DriverConfig, control_fd: int | None = None) -> None:
        """Must be made inside a running event loop."""
        registry()  # what brokers of other packages send can be decoded
        self.config = config
        self.clock = RunClock(config.epoch_offset_us or None)
        self._loop = asyncio.get_running_loop()
        name = f"clients-{config.node}"
        path = Path(config.events_folder) / f"{name}.jsonl"
        self.log = EventLog(path, name, self.clock, on_first=self._flush_later)
        self.clients = {client.id: self._client(client) for client in config.clients}
        self._stopping = asyncio.Event()
        self._jobs: set[asyncio.Task[None]] = set()
        self._control: ControlLine | None = None
        if control_fd is not None:
            self._control = ControlLine(control_fd, self._requested, self.shut_down)
        self._failure = ""
        self._loop.set_exception_handler(self._failed)

    def _client(self, plan: Client) -> LoadClient:
        return LoadClient(plan, self.config.brokers, self.clock, self.log, self._tell, self.config.tls)

    async def run(self) -> int:
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self.shut_down)
        self.log.write(LogEvent(kind="STARTED"))
        self._tell({"event": "ready"})
        if self._control is None:
            self._start(list(self.clients))
        await self._stopping.wait()
        await asyncio.gather(*(client.stop(PATIENCE_S) for client in self.clients.values()))
        self.log.write(LogEvent(kind="STOPPED", detail=self._failure))
        self.log.close()
        if self._control is not None:
            self._control.close()
        return 1 if self._failure else 0

    def shut_down(self) -> None:
        self._stopping.set()

    # ------------------------------------------------------------ requests

    def _requested(self, request: Request) -> None:
        names: list[str] = request.get("clients", [])
        match request.get("do"):
            case "start":
                self._start(names)
            case "stop":
                self._each(names, "stop")
            case "kill":
                self._each(names, "kill")
            case "quiet":
                for client in self.clients.values():
                    client.quiet()
            case "status":
                self._tell({"status": {"clients": {name: c.status() for name, c in self.clients.items()}}})
            case "shutdown":
                self.shut_down()

    def _start(self, names: list[str]) -> None:
        for name in names:
            client = self.clients.get(name)
            if client is None:
                self._tell({"event": "failed", "client": name, "detail": "no such client here"})
                continue
            try:
                client.start()
            except (BrokerError, TestbedError) as error:
                self._tell({"event": "failed", "client": name, "detail": str(error)})

    def _each(self, names: list[str], what: str) -> None:
        for name in names:
            if name in self.clients:
                job = asyncio.create_task(self._end(name, what))
                self._jobs.add(job)
                job.add_done_callback(self._jobs.discard)

    async def _end(self, name: str, what: str) -> None:
        client = self.clients[name]
        await (client.stop(PATIENCE_S) if what == "stop" else client.kill())
        self._tell({"event": "stopped", "client": name})

    def _tell(self, message: Request) -> None:
        if self._control is not None:
            self._control.send(message)
        elif message.get("event") == "failed":
            print(f"client {message['client']}: {message['detail']}", file=sys.stderr)

    # ------------------------------------------------------------ inside

    def _flush_later(self) -> None:
        self._loop.call_later(LOG_FLUSH_S, self.log.flush)

    def _failed(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Whatever reaches this is a defect: say it and stop."""
        if failure := told_defect(f"load driver on {self.config.node}", context):
            self._failure = self._failure or failure
            self.shut_down()


async def run_driver(config: DriverConfig, control_fd: int | None = None) -> int:
    return await Driver(config, control_fd).run()


def serve(config: DriverConfig, control_fd: int) -> NoReturn:
    """The body of a forked child: never comes back to the parent's code."""
    code = 1
    try:
        code = run(run_driver(config, control_fd))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m testbed.workload.driver", description="Run clients.")
    parser.add_argument("--config", required=True, type=Path, help="DriverConfig as JSON")
    path = parser.parse_args().config
    try:
        config = msgspec.json.decode(path.read_bytes(), type=DriverConfig)
        return run(run_driver(config))
    except OSError as error:
        print(f"error: {path}: {error.strerror}", file=sys.stderr)
    except (msgspec.DecodeError, InputError) as error:
        print(f"error: {path}: {error}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
