"""A warm parent that forks broker and driver processes, as the harness's own nursery does.

Importing gRPC and the broker takes a second, forking takes milliseconds. The parent never starts gRPC, so
that forking is safe. It speaks JSON over a Unix socket; a start request brings the child's end of the
control line along.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


class Child:
    """A process of the nursery, with the parts of Popen that tests use."""

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self._nursery = nursery
        self.pid = pid
        self.returncode: int | None = None

    def kill(self) -> None:
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._nursery.ask({"poll": self.pid})["code"]
        return self.returncode

    def wait(self, _patience_s: float = 20) -> int:
        if self.returncode is None:
            self.returncode = self._nursery.ask({"wait": self.pid})["code"]
        assert self.returncode is not None
        return self.returncode


class Nursery:
    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(120)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "tests.broker_process.nursery", str(theirs.fileno())]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment)
        theirs.close()
        self._lines = self._socket.makefile("rb")

    def ask(self, request: dict[str, Any], fds: tuple[int, ...] = ()) -> dict[str, Any]:
        socket.send_fds(self._socket, [json.dumps(request).encode() + b"\n"], list(fds))
        answer: dict[str, Any] = json.loads(self._lines.readline())
        return answer

    def start(self, what: str, config: Path, output: Path, control: socket.socket) -> Child:
        request = {"start": what, "config": str(config), "output": str(output)}
        return Child(self, self.ask(request, (control.fileno(),))["pid"])


@cache
def nursery() -> Nursery:
    """One per test process; it ends when that ends."""
    return Nursery()


# ---------------------------------------------------------------- the parent process


def main(fd: int) -> None:
    import testbed.workload.driver  # noqa: F401

    line = socket.socket(fileno=fd)
    while True:
        data, fds, _, _ = socket.recv_fds(line, 65536, 4)
        if not data:
            return
        line.sendall(json.dumps(answer(json.loads(data), fds, line)).encode() + b"\n")


def answer(request: dict[str, Any], fds: list[int], line: socket.socket) -> dict[str, Any]:
    if "start" in request:
        pid = os.fork()
        if not pid:
            line.close()
            child(request, fds[0])
        os.close(fds[0])
        return {"pid": pid}
    flags = 0 if "wait" in request else os.WNOHANG
    pid, status = os.waitpid(request.get("wait") or request["poll"], flags)
    return {"code": os.waitstatus_to_exitcode(status) if pid else None}


def child(request: dict[str, Any], control_fd: int) -> None:
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    data = Path(request["config"]).read_bytes()
    try:
        serve(request["start"], data, control_fd)
    finally:
        os._exit(70)


def serve(what: str, data: bytes, control_fd: int) -> None:
    import msgspec

    if what == "flood":
        from tests.broker_process import flood_machine

        flood_machine.serve(data, control_fd)
    elif what == "broker":
        from broker_grpc.core.config import BrokerProcessConfig
        from broker_grpc.process.process import serve as serve_broker

        serve_broker(msgspec.json.decode(data, type=BrokerProcessConfig), control_fd)
    elif what == "driver":
        from testbed.workload.driver import DriverConfig
        from testbed.workload.driver import serve as serve_driver

        serve_driver(msgspec.json.decode(data, type=DriverConfig), control_fd)


if __name__ == "__main__":
    main(int(sys.argv[1]))
