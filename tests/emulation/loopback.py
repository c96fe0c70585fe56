"""For tests of the runner: a plan on this kernel without a network of its own; every node is the loopback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from protos.records import LogEvent
from testbed.run.deploy import prepare
from testbed.run.fidelity import read_events
from testbed.run.folder import RunFolder
from testbed.topology.plan import Broker, Client, Gate, Network, Node, OverlayLink, Phase, Plan
from tests.emulation.open_files import open_files
from tests.ports import free_port

SECOND = 1_000_000
ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0
PATIENCE_US = 120 * SECOND


class LoopbackNetwork:
    """What the runner asks of an `EmulatedNetwork`, answered without shaping anything."""

    def __init__(self, plan: Plan, folder: RunFolder, **_: Any) -> None:
        self.changes: list[tuple[Any, ...]] = []
        self.is_up = False

    def up(self, progress: Callable[[str, int, int], None]) -> None:
        progress("up", 1, 1)
        self.is_up = True

    def down(self) -> None:
        self.is_up = False

    def enter(self, node: str) -> None:
        pass

    def link_down(self, link: str) -> None:
        self.changes.append(("link_down", link))

    def link_up(self, link: str) -> None:
        self.changes.append(("link_up", link))

    def reshape(self, link: str, **changes: Any) -> None:
        self.changes.append(("reshape", link, changes))

    def partition(self, nodes: list[str]) -> None:
        self.changes.append(("partition", *nodes))

    def heal(self) -> None:
        self.changes.append(("heal",))

    def start_capture(self) -> None:
        pass

    def stop_capture(self) -> list[Any]:
        return []

    def start_probes(self) -> None:
        pass

    def stop_probes(self) -> None:
        pass

    def stop_controller(self) -> None:
        pass


def chain(brokers: int = 3, clients: list[Client] | None = None, **broker: Any) -> Plan:
    """A chain of brokers on the loopback, clients after them, two seconds of running."""
    names = [f"B{number}" for number in range(1, brokers + 1)]
    clients = clients or []
    phases = [Phase("brokers", list(names), gate(links_up=True))]
    if clients:
        phases.append(Phase("clients", [client.id for client in clients], gate(subscriptions_settled=True)))
    phases[-1].run_for_us = 2 * SECOND
    return Plan(
        name="chain",
        seed=1,
        network=Network([Node(name, "host", "127.0.0.1") for name in names]),
        brokers=[Broker(name, name, "127.0.0.1", free_port(), **broker) for name in names],
        overlay=[OverlayLink(a, b) for a, b in pairwise(names)],
        clients=clients,
        phases=phases,
    )


def gate(**conditions: Any) -> Gate:
    """Patient: a busy machine takes its time."""
    return Gate(every_us=100_000, timeout_us=PATIENCE_US, **conditions)


def once(path: Path) -> Phase:
    """A phase that is ready when there is this file: the test says when the run goes on."""
    return Phase(f"once {path.name}", gate=gate(check=["test", "-e", str(path)], check_node="B1"))


def recovered(plan: Plan) -> Phase:
    """A phase that is ready when every broker is up and in step with the others, however long it takes."""
    wanted = gate(links_up=True, subscriptions_settled=True)
    return Phase("recovered", [broker.id for broker in plan.brokers], wanted)


def folder_for(plan: Plan, results: Path) -> RunFolder:
    return prepare(plan, None, results, "host", "real", "test")


class Runner:
    """A runner process on the loopback."""

    def __init__(self, plan: Plan, results: Path, *options: str) -> None:
        self.folder: RunFolder = folder_for(plan, results)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.emulation.loopback", str(self.folder.path), *options],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(self.folder.logs / "runner.log").open("wb"),
            env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        )

    @property
    def out(self) -> BinaryIO:
        assert self.process.stdout is not None
        return self.process.stdout  # type: ignore[return-value]

    def wait_for(self, **wanted: Any) -> dict[str, Any]:
        """The first line of progress that has these fields."""
        for line in self.out:
            said: dict[str, Any] = msgspec.json.decode(line)
            if all(said.get(name) == value for name, value in wanted.items()):
                return said
        raise AssertionError(f"ended without {wanted}: {self.log()}")

    def log(self) -> str:
        return (self.folder.logs / "runner.log").read_text()

    def crash(self, process: str) -> None:
        """Kill a process behind the runner's back."""
        victims = [pid for pid in self.pids() if self._name(pid) == process]
        assert len(victims) == 1
        os.kill(victims[0], signal.SIGKILL)

    @staticmethod
    def _name(pid: int) -> str:
        try:
            return Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:  # it has ended since it was listed
            return ""

    def wait_until_gone(self) -> None:
        """It and all that it started."""
        self.process.wait()
        deadline = time.monotonic() + PATIENCE_S
        while (left := self.pids()) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert left == []

    def end(self) -> int:
        self.out.read()
        return self.process.wait(PATIENCE_S)

    def harness(self) -> list[LogEvent]:
        return read_events(self.folder.events / "harness.jsonl")

    def kinds(self) -> list[str]:
        return [event.kind for event in self.harness()]

    def pids(self) -> list[int]:
        """Every live process that mentions this run in its environment or open logs."""
        logs = str(self.folder.logs)
        found = [
            int(entry.name)
            for entry in Path("/proc").glob("[0-9]*")
            if any(file.startswith(logs) for file in open_files(entry))
        ]
        return [pid for pid in found if pid != os.getpid()]


def main() -> int:
    """python -m tests.emulation.loopback RUNFOLDER [--keep]: the emulated run, to be killed by tests."""
    from testbed.emulation.runner.emulated_run import EmulatedRun

    run = EmulatedRun(RunFolder(Path(sys.argv[1])), LoopbackNetwork, lifeline=0)
    return 0 if run.run(keep="--keep" in sys.argv).status == "done" else 1


if __name__ == "__main__":
    raise SystemExit(main())
