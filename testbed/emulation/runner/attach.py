"""The client of a runner's service, on the same kernel as the runner.

    python -m testbed.emulation.runner.attach SOCKET status|stop|prompt
    python -m testbed.emulation.runner.attach SOCKET exchange A B C D
    python -m testbed.emulation.runner.attach SOCKET exec HOST COMMAND [ARGUMENT...]

With a terminal as input a command gets one of its own, so that job control and line editing work.
"""

from __future__ import annotations

import contextlib
import os
import pty
import shutil
import socket
import sys
import termios
import tty
from collections.abc import Iterator
from typing import Any

import msgspec

from testbed.emulation.readable import readable
from testbed.emulation.runner.service import Request
from testbed.errors import TestbedError

READ = 1 << 16


class NobodyThere(TestbedError):
    """The runner of this deployment does not answer."""


def ask(path: str, request: Request, stdio: list[int] | None = None) -> socket.socket:
    """Send a request; the answers come from the returned socket."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        client.connect(path)
    except OSError as error:
        raise NobodyThere(f"the deployment does not answer: {error.strerror}", file=path) from None
    socket.send_fds(client, [msgspec.json.encode(request)], stdio or [])
    return client


def answer(client: socket.socket) -> dict[str, Any]:
    data = b""
    while chunk := client.recv(READ):
        data += chunk
    if not data:
        raise NobodyThere("the deployment ended while it was asked")
    said: dict[str, Any] = msgspec.json.decode(data)
    if "error" in said:
        raise TestbedError(said["error"])
    return said


def converse(path: str, request: Request) -> int:
    """Run a command or the prompt with this process's terminal or pipes; returns the exit code."""
    if not os.isatty(0):
        return exit_code(answer(ask(path, request, [0, 1, 2])))
    master, slave = pty.openpty()
    copy_window_size(master)
    client = ask(path, request, [slave, slave, slave])
    os.close(slave)
    with raw_terminal():
        relay(master, client)
    return exit_code(answer(client))


def exit_code(said: dict[str, Any]) -> int:
    code: int = said["exit"]
    return 128 - code if code < 0 else code


def relay(master: int, client: socket.socket) -> None:
    """Bytes both ways until the command has ended and everything it wrote was shown."""
    sources: list[Any] = [0, master, client]
    while True:
        ready = readable(sources)
        if master in ready:
            with contextlib.suppress(OSError):  # EIO: the other side is closed
                os.write(1, os.read(master, READ))
                continue
        if 0 in ready:
            typed = os.read(0, READ)
            if typed:
                os.write(master, typed)
            else:
                sources.remove(0)
        elif client in ready:
            return


def copy_window_size(master: int) -> None:
    size = shutil.get_terminal_size()
    termios.tcsetwinsize(master, (size.lines, size.columns))


@contextlib.contextmanager
def raw_terminal() -> Iterator[None]:
    before = termios.tcgetattr(0)
    tty.setraw(0, termios.TCSADRAIN)  # what was typed already counts
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def main(arguments: list[str]) -> int:
    path, do, *rest = arguments
    if do in ("status", "stop"):
        print(msgspec.json.encode(answer(ask(path, Request(do)))).decode())
        return 0
    if do == "exchange":
        answer(ask(path, Request("exchange", rest[0], rest[1:])))
        return 0
    if do == "prompt":
        return converse(path, Request("prompt"))
    environment = {name: os.environ[name] for name in ("TERM", "LANG", "PATH", "HOME") if name in os.environ}
    return converse(path, Request("exec", rest[0], rest[1:], environment, os.getcwd()))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except TestbedError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
