"""The process beside a guest: boots the kernel, relays between clients and the guest, freezes the guest.

    python -m testbed.emulation.guest.keeper CONTROL_FOLDER OWNER_FD        (started by `api.Guest`)

Clients connect to `keeper.sock` and exchange one JSON object per line. The harness that started the keeper
owns the guest over a connection of its own: when that ends without a `detach` before, the guest is stopped,
so a killed harness leaves nothing behind. The kernel in turn dies with the keeper. A guest in virtual time
that has nothing to do says so (`idle`) and is frozen (SIGSTOP: it costs no CPU, and its clock stands still)
until a client wants something.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import selectors
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from testbed.emulation.guest.client import Connection, Message
from testbed.emulation.guest.control import ControlFolder
from testbed.emulation.guest.pinning import LOOK_SECONDS, Pinning, move, runnable

PR_SET_PDEATHSIG = 1
STOP_GRACE_SECONDS = 30.0  # real ones; only for a guest whose owner is gone
PACE_SECONDS = 0.05
CONSOLE_FD, LINE_FD = 200, 201


class Keeper:
    def __init__(self, control: ControlFolder, launch: Message, owner: Connection) -> None:
        self.control = control
        self.virtual: bool = launch["clock"] == "virtual"
        self.loop = selectors.DefaultSelector()
        self.clients: dict[int, Connection] = {owner.fileno(): owner}
        self.owner: Connection | None = owner
        self.session_owner: dict[int, Connection] = {}
        self.next_session = 1 + max(launch["first_jobs"], default=0)
        self.detached = self.stopping = self.frozen = False
        self.kill_at: float | None = None
        self.thaw_at: float | None = None
        self.clock_ns = 0
        self.sent = 0
        self.pinning = _pinning(launch)
        self.look_at = time.monotonic() + LOOK_SECONDS
        self.listener = _listen(control.socket)
        self.line, self.guest = _boot(control, launch["boot_line"], launch["environment"], launch["cpu"])
        self.pid_fd = os.pidfd_open(self.guest.pid)
        for source in (self.listener, self.line, self.pid_fd, owner):
            self.loop.register(source, selectors.EVENT_READ)
        self._write_state()

    def serve(self) -> int:
        """Until the guest has ended. Returns its exit code."""
        while self.guest.poll() is None:
            for key, _ in self.loop.select(self._patience()):
                self._ready(key.fd)
            self._on_time()
        self._drain_line()
        self._say_goodbye()
        return self.guest.returncode

    def _patience(self) -> float | None:
        look_at = self.look_at if self.pinning is not None and not self.frozen else None
        deadlines = [at for at in (self.kill_at, self.thaw_at, look_at) if at is not None]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _on_time(self) -> None:
        now = time.monotonic()
        if self.kill_at is not None and now >= self.kill_at:
            self.kill()
        if self.thaw_at is not None and now >= self.thaw_at:
            self._send({"op": "continue"})
        if self.pinning is not None and now >= self.look_at:
            self.look_at = now + LOOK_SECONDS
            self._look_around(self.pinning)

    def _look_around(self, pinning: Pinning) -> None:
        """A guest that stands still wants no CPU."""
        if self.frozen:
            return
        cpu = pinning.observe(runnable())
        if cpu is not None:
            move(self.guest.pid, cpu)

    def _ready(self, fd: int) -> None:
        if fd == self.listener.fileno():
            self._accept()
        elif fd == self.line.fileno():
            self._from_guest()
        elif fd in self.clients:
            self._from_client(self.clients[fd])

    def _accept(self) -> None:
        connection = Connection(self.listener.accept()[0])
        self.clients[connection.fileno()] = connection
        self.loop.register(connection, selectors.EVENT_READ)

    def _from_client(self, client: Connection) -> None:
        messages, open_ = client.receive()
        for message in messages:
            self._request(client, message)
        if not open_:
            self._client_gone(client)

    def _client_gone(self, client: Connection) -> None:
        self.loop.unregister(client)
        del self.clients[client.fileno()]
        client.close()
        if client is self.owner:
            self.owner = None
            if not self.detached:
                self.stop(STOP_GRACE_SECONDS)
        elif not self.stopping:
            self._hang_up(client)

    def _hang_up(self, client: Connection) -> None:
        """Tell the commands of a client that is gone, as a closed terminal does."""
        for number in [number for number, owner in self.session_owner.items() if owner is client]:
            del self.session_owner[number]
            self._send({"op": "signal", "id": number, "signal": int(signal.SIGHUP)})

    def _request(self, client: Connection, message: Message) -> None:
        """One wish of a client. `start` is answered with the session's number."""
        op = message["op"]
        if op == "start":
            number, self.next_session = self.next_session, self.next_session + 1
            self.control.job(number).write_text(json.dumps(message["job"]), encoding="utf-8")
            self.session_owner[number] = client
            client.send({"op": "started", "id": number})
            self._send({"op": "start", "id": number})
        elif op == "adopt":
            self.session_owner[message["id"]] = client
        elif op in ("signal", "resize", "input"):
            self._send(message)
        elif op == "stop":
            self.stop(float(message["grace"]))
        elif op == "kill":
            self.kill()
        elif op == "detach":
            self.detached = True
            self._write_state()
            client.send({"op": "detached"})

    def _from_guest(self) -> None:
        messages, open_ = self.line.receive()
        for message in messages:
            self._news(message)
        if not open_:
            self.loop.unregister(self.line)

    def _news(self, message: Message) -> None:
        """Something that the guest said."""
        op = message["op"]
        self.clock_ns = message.get("clock_ns", self.clock_ns)
        if op in ("idle", "paced"):
            self._freeze_if_nothing_is_under_way(message)
        elif op == "ready":
            for client in self.clients.values():
                client.send(message)
        if "id" in message:
            owner = self.session_owner.get(message["id"])
            if owner:
                owner.send(message)
        if op == "exited":
            self.session_owner.pop(message["id"], None)

    def _send(self, message: Message) -> None:
        """To the guest, which is woken for it. The message is there before the guest goes on."""
        self.line.send(message)
        self.sent += 1
        self.thaw_at = None
        if self.frozen:
            self.frozen = False
            os.kill(self.guest.pid, signal.SIGCONT)

    def _freeze_if_nothing_is_under_way(self, message: Message) -> None:
        """Stop the kernel's process: the others run only when it lets them.

        A message that the guest had not seen when it said that it is idle will wake it: not now, then.
        """
        if message["seen"] != self.sent or self.stopping:
            return
        os.kill(self.guest.pid, signal.SIGSTOP)
        self.frozen = True
        if message["op"] == "paced":
            self.thaw_at = time.monotonic() + PACE_SECONDS
        else:
            self._write_state()

    def stop(self, grace: float) -> None:
        """Ask the guest to end its commands and power off; `kill` it when it does not in time."""
        if not self.stopping:
            self.stopping = True
            self._send({"op": "stop"})
        self.kill_at = min(self.kill_at or float("inf"), time.monotonic() + grace)

    def kill(self) -> None:
        """The kernel and every process that it runs: they are one process group, made for this guest."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.guest.pid, signal.SIGKILL)
        self.kill_at = None

    def _drain_line(self) -> None:
        open_ = True
        while open_:
            messages, open_ = self.line.receive()
            for message in messages:
                self._news(message)
            if not messages:
                return

    def _say_goodbye(self) -> None:
        self.kill()
        self._write_state()
        for client in self.clients.values():
            client.send({"op": "dead", "code": self.guest.returncode, "asked": self.stopping})
            client.close()
        if self.stopping and not self.clients:
            self.control.remove()  # nobody is left who would

    def _write_state(self) -> None:
        state = {
            "keeper": os.getpid(),
            "guest": self.guest.pid,
            "virtual": self.virtual,
            "clock_ns": self.clock_ns,
            "frozen": self.frozen,
            "detached": self.detached,
            "exit": self.guest.poll(),
        }
        fresh = self.control.state.with_suffix(".new")
        fresh.write_text(json.dumps(state), encoding="utf-8")
        fresh.rename(self.control.state)


def _pinning(launch: Message) -> Pinning | None:
    """None where there is nothing to choose."""
    allowed = os.sched_getaffinity(0)
    if not launch["movable"] or len(allowed) < 2:
        return None
    return Pinning(launch["cpu"], allowed, random.Random())


def _listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen()
    return listener


def _boot(
    control: ControlFolder, boot_line: list[str], environment: dict[str, str], cpu: int | None
) -> tuple[Connection, subprocess.Popen[bytes]]:
    """Start the kernel in its own session, its files at fixed descriptors so that boot lines repeat."""
    ours, theirs = socket.socketpair()
    console = os.open(control.console, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(console, CONSOLE_FD)
    os.dup2(theirs.fileno(), LINE_FD)
    guest = subprocess.Popen(
        boot_line,
        cwd=control.path,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=console,
        stderr=console,
        pass_fds=(CONSOLE_FD, LINE_FD),
        start_new_session=True,
        preexec_fn=lambda: _prepare_child(cpu),
    )
    for fd in (console, CONSOLE_FD, LINE_FD):
        os.close(fd)
    theirs.close()
    return Connection(ours), guest


def _prepare_child(cpu: int | None) -> None:
    """Die with the keeper, open as many files as allowed, leave no core, stay on one CPU."""
    import resource

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})


def main(argv: list[str]) -> int:
    control = ControlFolder(Path(argv[0]))
    launch: dict[str, Any] = json.loads(sys.stdin.read())
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    owner = Connection(socket.socket(fileno=int(argv[1])))
    keeper = Keeper(control, launch, owner)
    signal.signal(signal.SIGTERM, lambda *_: keeper.stop(STOP_GRACE_SECONDS))
    return keeper.serve()


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) == 0 else 1)
