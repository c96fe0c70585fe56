"""The warm parent: a single-threaded process that has imported everything and forks the others from itself.

It is forked from the runner once the network is up, so it can enter any host. It does nothing but fork,
send signals and report deaths. When the runner vanishes without saying goodbye (kill -9), the nursery waits
for its children, who see the same end of file, and then clears up what the runner could not.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Sequence
from typing import Literal, NoReturn

import msgspec

from testbed.emulation.runner.child import Birth, become

GRACE_S = 30.0  # for children to close their files after the runner vanished
PACKET = 1 << 16
STDIO = 3


class SignalOrder(msgspec.Struct):
    key: int
    number: int


class Order(msgspec.Struct, omit_defaults=True):
    """Runner to nursery: exactly one of these."""

    fork: Birth | None = None
    signal: SignalOrder | None = None
    goodbye: bool = False


class Report(msgspec.Struct):
    """Nursery to runner."""

    what: Literal["forked", "ended"]
    key: int
    code: int = 0  # as in subprocess: negative = signal


class Nursery:
    """The runner's side."""

    def __init__(self, enter: Callable[[str], None], afterwards: Callable[[], None]) -> None:
        """Fork the nursery. `enter` is called in children, `afterwards` in the nursery of a dead runner."""
        threads = len(os.listdir("/proc/self/task"))
        assert threads == 1, (
            f"{threads} threads: a lock that one of them holds would be held for ever in children"
        )
        gc.collect()
        gc.freeze()  # what is shared now stays shared: no collection writes into these pages
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            self._socket.close()
            Cradle(theirs, enter).run(afterwards)
        theirs.close()
        self._socket.setblocking(False)

    def fileno(self) -> int:
        return self._socket.fileno()

    def fork(self, birth: Birth, descriptors: Sequence[int] = ()) -> None:
        """The descriptors are the child's control line, or its standard input, output and error."""
        packet = msgspec.json.encode(Order(fork=birth))
        self._socket.setblocking(True)
        socket.send_fds(self._socket, [packet], descriptors)
        self._socket.setblocking(False)

    def signal(self, key: int, number: int) -> None:
        self._send(Order(signal=SignalOrder(key, number)))

    def reports(self) -> list[Report]:
        """All reports that have come in; empty when none has."""
        found: list[Report] = []
        while True:
            try:
                packet = self._socket.recv(PACKET)
            except (BlockingIOError, ConnectionResetError):  # reset: it vanished with orders unread
                return found
            if not packet:
                return found
            found.append(msgspec.json.decode(packet, type=Report))

    def goodbye(self) -> None:
        """The children are gone and the runner clears up by itself."""
        self._send(Order(goodbye=True))
        self._socket.close()
        os.waitpid(self.pid, 0)

    def _send(self, order: Order) -> None:
        self._socket.setblocking(True)
        self._socket.send(msgspec.json.encode(order))
        self._socket.setblocking(False)


class Cradle:
    """The nursery's side."""

    def __init__(self, channel: socket.socket, enter: Callable[[str], None]) -> None:
        self.channel = channel
        self.enter = enter
        self.children: dict[int, int] = {}  # pid -> key
        self.deaths, deaths = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(deaths, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)

    def run(self, afterwards: Callable[[], None]) -> NoReturn:
        code = 0
        try:
            os.setsid()
            if not self.serve():
                self.bury()
                afterwards()
        except BaseException:
            import traceback

            traceback.print_exc()
            code = 1
        finally:
            os._exit(code)

    def serve(self) -> bool:
        """Until the runner says goodbye (True) or vanishes (False)."""
        poll = select.poll()
        poll.register(self.channel, select.POLLIN)
        poll.register(self.deaths, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == self.deaths:
                    self.reap()
                    continue
                packet, descriptors = self.read()
                if not packet:
                    return False
                order = msgspec.json.decode(packet, type=Order)
                if order.goodbye:
                    return True
                self.obey(order, descriptors)

    def read(self) -> tuple[bytes, list[int]]:
        """An order and what came with it; no order when the runner has vanished."""
        try:
            packet, descriptors, _, _ = socket.recv_fds(self.channel, PACKET, STDIO)
        except ConnectionResetError:  # it vanished before it had read all reports
            return b"", []
        return packet, descriptors

    def obey(self, order: Order, descriptors: list[int]) -> None:
        if order.fork is not None:
            self.fork(order.fork, descriptors)
        elif order.signal is not None:
            for pid, key in self.children.items():
                if key == order.signal.key:
                    send_signal(pid, order.signal.number)

    def fork(self, birth: Birth, descriptors: list[int]) -> None:
        pid = os.fork()
        if pid == 0:
            become(birth, descriptors, self.enter)
        for descriptor in descriptors:
            os.close(descriptor)
        self.children[pid] = birth.key
        self.report(Report("forked", birth.key))

    def reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self.deaths, 4096)
        while self.children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            code = os.waitstatus_to_exitcode(status)
            self.report(Report("ended", self.children.pop(pid), code))

    def report(self, report: Report) -> None:
        # A vanished runner is noticed by the next read.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.channel.send(msgspec.json.encode(report))

    def bury(self) -> None:
        """The children have seen the runner's end as well and close their files; then the rest is killed."""
        deadline = time.monotonic() + GRACE_S
        poll = select.poll()
        poll.register(self.deaths, select.POLLIN)
        while self.children and time.monotonic() < deadline:
            poll.poll(max(1.0, (deadline - time.monotonic()) * 1000))
            self.reap()
        for pid in self.children:
            send_signal(pid, signal.SIGKILL)
        for pid in self.children:
            os.waitpid(pid, 0)


def send_signal(pid: int, number: int) -> None:
    """To the whole session of a child; to the child alone while it has not made its session yet."""
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        os.kill(pid, number)  # not yet reaped, so the id cannot be anybody else's
