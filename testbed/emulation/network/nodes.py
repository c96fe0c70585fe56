"""Mininet's nodes, without a shell each.

A stock Mininet node is a bash process; these start one only when somebody uses it (`h1.cmd(...)`, the Mininet
prompt). Until then a host is a network namespace and a switch is a bridge of the run's own Open vSwitch.
"""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import subprocess
from pathlib import Path
from typing import Any

from mininet.node import Controller, Host, Node, OVSSwitch
from mininet.util import getincrementaldecoder

from testbed.emulation.network import namespaces

PROMPT = chr(127)  # Mininet's sign that a command is over


class LazyShell(Node):  # type: ignore[misc]
    """Starts Mininet's shell on first use, inside the node's namespace, without the `mnexec` helper."""

    isSetup = True
    namespace: Path | None = None  # set by the network once it exists; None = the caller's own
    shell_environment: dict[str, str] | None = None
    is_up = False
    _shell_wanted = False
    _stopped = False

    def startShell(self, mnopts: str | None = None) -> None:
        if not self._shell_wanted:
            return
        self.master, self.slave = pty.openpty()
        argv = ["bash", "--norc", "--noediting", "-is", "mininet:" + self.name]
        self.shell = self._popen(
            argv, stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True
        )
        self.stdin = self.stdout = os.fdopen(self.master, "r")
        self.lastPid = self.lastCmd = None
        self.readbuf, self.execed, self.waiting = "", False, False
        self.decoder = getincrementaldecoder()
        self.pollOut = select.poll()
        self.pollOut.register(self.stdout)
        self.outToNode[self.stdout.fileno()] = self
        self.inToNode[self.stdin.fileno()] = self
        while not self.read(1024).endswith(PROMPT):
            self.pollOut.poll()
        super().sendCmd("unset HISTFILE; stty -echo; set +m")
        self.waitOutput()

    def want_shell(self) -> None:
        if self.shell is None and self.is_up and not self._stopped:
            self._shell_wanted = True
            self.startShell()

    @property
    def pid(self) -> int | None:
        """Of the shell, which is started for it: `mnexec -a PID` and the like then work."""
        self.want_shell()
        return self.shell.pid if self.shell is not None else None

    @pid.setter
    def pid(self, value: object) -> None:
        """Mininet's constructor sets None; the number always comes from the shell."""

    def _popen(self, cmd: list[str], **params: Any) -> subprocess.Popen[Any]:
        params.setdefault("env", {**(self.shell_environment or os.environ), "PS1": PROMPT})
        with namespaces.inside(self.namespace) if self.namespace else contextlib.nullcontext():
            return subprocess.Popen(cmd, **params)

    def popen(self, *args: Any, **kwargs: Any) -> Any:
        kwargs["mncmd"] = []
        kwargs.setdefault("start_new_session", True)
        return super().popen(*args, **kwargs)

    def sendCmd(self, *args: Any, **kwargs: Any) -> None:
        self.want_shell()
        if kwargs.pop("printPid", False):
            words = args[0] if len(args) == 1 and isinstance(args[0], list) else args
            command = " ".join(str(word) for word in words)
            if not re.search(r"&\s*$", command):
                args = (f'sh -c \'printf "\\001%d\\n" $$; exec "$@"\' - {command}',)
        super().sendCmd(*args, **kwargs)

    def cmd(self, *args: Any, **kwargs: Any) -> Any:
        if not self.is_up:  # Mininet's constructors run commands on interfaces that do not exist yet
            return ""
        self.want_shell()
        return super().cmd(*args, **kwargs)

    def terminate(self) -> None:
        self._stopped = True
        super().terminate()

    def __repr__(self) -> str:
        interfaces = ",".join(f"{intf.name}:{intf.IP()}" for intf in self.intfList())
        pid = self.shell.pid if self.shell is not None else "-"
        return f"<{type(self).__name__} {self.name}: {interfaces} pid={pid}> "


class NamespaceHost(LazyShell, Host):  # type: ignore[misc]
    """A host: a network namespace. Its address, ARP entries and links are made by the network, in one go."""

    def config(self, **_params: Any) -> dict[str, Any]:
        return {}


class BatchedSwitch(LazyShell, OVSSwitch):  # type: ignore[misc]
    """A bridge; all bridges of a network are made by one transaction."""

    def __init__(self, name: str, **params: Any) -> None:
        OVSSwitch.OVSVersion = "3.0"  # spares the constructor a process; the run's own Open vSwitch is recent
        super().__init__(name, **params)

    @classmethod
    def setup(cls) -> None:
        """Stock Mininet looks for the machine's Open vSwitch here; a run has its own."""

    def start(self, controllers: Any) -> None:
        """Nothing: `batchStartup` is Mininet's name for it, and the network does it for all."""

    @classmethod
    def batchStartup(cls, switches: Any, run: Any = None) -> Any:
        return switches

    @classmethod
    def batchShutdown(cls, switches: Any, run: Any = None) -> Any:
        return switches

    def vsctl(self, *args: Any, **kwargs: Any) -> Any:
        return self.cmd("ovs-vsctl", *args, **kwargs)

    def stop(self, deleteIntfs: bool = True) -> None:
        self.terminate()


class PlannedController(LazyShell, Controller):  # type: ignore[misc]
    """The Ryu process, as Mininet sees it; the network starts and ends it."""

    def checkListening(self) -> None:
        """Stock Mininet probes with telnet; ours listens in a namespace of its own."""

    def start(self) -> None:
        pass

    def stop(self, *args: Any, **kwargs: Any) -> None:
        self.terminate()

    @classmethod
    def isAvailable(cls) -> bool:
        return True
