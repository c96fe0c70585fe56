"""The guest's main loop: run commands for the keeper, reap processes, hold the clock in between.

Virtual time passes when every process of the guest waits. Between commands nothing should pass, so the agent
does not wait then: it polls the line without sleeping, which keeps the guest's clock where it is, and tells
the keeper, which freezes the whole guest until there is something to do. A terminal session is paced: the
agent lets a slice of virtual time pass, and holds until the keeper says that as much real time has passed.

SIGUSR1 to the agent parks every command that runs now: they go on when another one runs, and no time passes
for their sake alone. A deployment that is kept after its timeline parks itself so (`park.park`).
"""

from __future__ import annotations

import base64
import os
import signal
import time

from testbed.emulation.guest.inside import sessions
from testbed.emulation.guest.inside.line import Line, Message
from testbed.emulation.guest.inside.sessions import Session
from testbed.emulation.readable import readable

PACE_SECONDS = 0.05
TERMINAL_READ = 2048


class Agent:
    def __init__(self, line: Line, *, virtual: bool) -> None:
        self.line = line
        self.virtual = virtual
        self.stopping = False
        self.sessions: dict[int, Session] = {}
        self.parked: set[int] = set()
        signal.signal(signal.SIGUSR1, lambda *_: self.parked.update(self.sessions))
        self._child_fd = _wake_on_child_exit()

    def serve(self, first_jobs: list[int]) -> None:
        """Until the keeper asks to stop and the last command has ended."""
        self.line.send("ready", clock_ns=time.clock_gettime_ns(time.CLOCK_MONOTONIC))
        for number in first_jobs:
            self._start(number)
        while not (self.stopping and not self.sessions):
            if self.virtual and not self.stopping and self.parked.issuperset(self.sessions):
                self._hold("idle")
            else:
                self._wait()

    def _hold(self, why: str) -> None:
        """Do not let virtual time pass until a message comes."""
        clock_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.line.send(why, clock_ns=clock_ns, seen=self.line.received)
        messages: list[Message] = []
        while not messages:
            # Neither sleeping nor failing: newer kernels let a microsecond pass at every failed call.
            if readable([self.line.fd], 0):
                messages = self.line.receive()
            os.sched_yield()
        self._reap()
        for message in messages:
            self._handle(message)

    def _wait(self) -> None:
        terminals = {s.terminal: s for s in self.sessions.values() if s.terminal is not None}
        paced = self.virtual and not self.stopping and self._only_terminals()
        watched = [self.line.fd, self._child_fd, *terminals]
        ready = readable(watched, PACE_SECONDS if paced else None)
        for fd in ready:
            if fd in terminals:
                self._relay(terminals[fd])
        if self._child_fd in ready:
            os.read(self._child_fd, 512)
            self._reap()
        for message in self.line.receive():
            self._handle(message)
        if paced and not ready and self.sessions:
            self._hold("paced")

    def _only_terminals(self) -> bool:
        """Whether every command that is not parked is a terminal session: somebody sits there and types."""
        return all(s.terminal is not None for n, s in self.sessions.items() if n not in self.parked)

    def _handle(self, message: Message) -> None:
        op, session = message["op"], self.sessions.get(message.get("id", 0))
        if op == "start":
            self._start(message["id"])
        elif op == "stop":
            self._stop()
        elif op == "signal" and session:
            session.signal(message["signal"])
        elif op == "resize" and session:
            session.resize(message["rows"], message["columns"])
        elif op == "input" and session and session.terminal is not None:
            _write_all(session.terminal, base64.b64decode(message["data"]))

    def _start(self, number: int) -> None:
        try:
            self.sessions[number] = sessions.start(number)
        except (OSError, ValueError, KeyError) as error:
            self.line.send("exited", id=number, code=sessions.NOT_EXECUTABLE, error=str(error))

    def _stop(self) -> None:
        """Ask every command to end; once they have, `serve` returns."""
        self.stopping = True
        os.sync()
        for session in self.sessions.values():
            session.signal(signal.SIGTERM)
            session.signal(signal.SIGCONT)

    def _relay(self, session: Session) -> None:
        """What the terminal shows, to the keeper. A terminal whose last user is gone reads as an error."""
        assert session.terminal is not None
        try:
            data = os.read(session.terminal, TERMINAL_READ)
        except OSError:
            data = b""
        if data:
            self.line.send("output", id=session.number, data=base64.b64encode(data).decode())
        else:
            os.close(session.terminal)
            session.terminal = None

    def _reap(self) -> None:
        """Collect every ended process; the first process of a machine inherits all orphans."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            ended = next((s for s in self.sessions.values() if s.pid == pid), None)
            if ended:
                self._finish(ended, sessions.exit_code(status))

    def _finish(self, session: Session, code: int) -> None:
        while session.terminal is not None and readable([session.terminal], 0):
            self._relay(session)
        if session.terminal is not None:
            os.close(session.terminal)
        del self.sessions[session.number]
        self.parked.discard(session.number)
        os.sync()
        sessions.record_exit(session.number, code)
        self.line.send("exited", id=session.number, code=code)


def _wake_on_child_exit() -> int:
    """A file descriptor that becomes readable when a child has ended."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reader


def _write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]
