"""A socket on which the runner answers while it lives: status, commands on hosts, Mininet's prompt, stop.

One JSON line from the client, with its standard input, output and error attached where a command is to use
them; JSON lines back. The socket lies on the runner's own kernel; `attach` is its client.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from testbed.emulation.runner.child import Birth, take_stdio
from testbed.emulation.runner.loop import Loop

REQUEST = 1 << 16
STDIO = 3


class Request(msgspec.Struct, omit_defaults=True):
    do: str  # status, exec, prompt, exchange, stop
    node: str = ""
    argv: list[str] = []
    env: dict[str, str] = {}
    cwd: str = ""


def socket_path(run: str) -> Path:
    base = Path("/run") if os.access("/run", os.W_OK) else Path(tempfile.gettempdir())
    folder = base / f"pubsub-testbed-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"{run}.sock"


class Service:
    """Answers are the callbacks' business; this knows the protocol only."""

    def __init__(
        self,
        path: Path,
        loop: Loop,
        status: Callable[[], dict[str, Any]],
        execute: Callable[[Birth, list[int], Callable[[int, str], None]], None],
        prompt: Callable[[], None],
        exchange: Callable[[str, str, list[str]], None],
        stop: Callable[[], None],
    ) -> None:
        self.path, self.loop = path, loop
        self.status, self.execute, self.prompt, self.stop = status, execute, prompt, stop
        self.exchange = exchange
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path.unlink(missing_ok=True)
        self._listener.bind(str(path))
        self._listener.listen()
        loop.watch(self._listener, self._accept)

    def close(self) -> None:
        self.loop.unwatch(self._listener)
        self._listener.close()
        self.path.unlink(missing_ok=True)

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        self.loop.watch(client, lambda: self._serve(client))

    def _serve(self, client: socket.socket) -> None:
        """A client asks once; what it sends afterwards, or its end, closes the conversation."""
        self.loop.unwatch(client)
        packet, descriptors, _, _ = socket.recv_fds(client, REQUEST, STDIO)
        try:
            request = msgspec.json.decode(packet, type=Request)
            self._answer(client, request, descriptors)
        except (msgspec.DecodeError, KeyError) as error:
            send(client, {"error": str(error)})
            client.close()
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _answer(self, client: socket.socket, request: Request, stdio: list[int]) -> None:
        if request.do == "status":
            send(client, {"status": self.status()})
            client.close()
        elif request.do == "stop":
            self.stop()
            send(client, {"stopping": True})
            client.close()
        elif request.do == "exchange":
            self.exchange(request.node, request.argv[0], request.argv[1:])
            send(client, {"ordered": True})
            client.close()
        elif request.do == "exec":
            birth = Birth(
                0, "", "program", request.node, "", argv=request.argv, env=request.env, folder=request.cwd
            )
            self.execute(birth, stdio, lambda code, _: farewell(client, code))
        elif request.do == "prompt":
            self._prompt(client, stdio)
        else:
            send(client, {"error": f"unknown request {request.do!r}"})
            client.close()

    def _prompt(self, client: socket.socket, stdio: list[int]) -> None:
        """A copy of this process runs the prompt: it has the whole Mininet network."""
        pid = os.fork()
        if pid == 0:
            in_copy(self.prompt, stdio)
        ended = os.pidfd_open(pid)

        def reap() -> None:
            self.loop.unwatch(ended)
            os.close(ended)
            _, status = os.waitpid(pid, 0)
            farewell(client, os.waitstatus_to_exitcode(status))

        self.loop.watch(ended, reap)


def in_copy(prompt: Callable[[], None], stdio: list[int]) -> None:
    """The forked side; ends with the prompt."""
    code = 1
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        take_stdio(stdio)
        sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
        prompt()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        os._exit(code)


def farewell(client: socket.socket, code: int) -> None:
    send(client, {"exit": code})
    client.close()


def send(client: socket.socket, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        client.sendall(msgspec.json.encode(message) + b"\n")
