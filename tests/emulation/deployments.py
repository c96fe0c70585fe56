"""For the tests that run `testbed deploy` for real: a small topology, the command, what is left of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from protos.records import LogEvent
from testbed.run.fidelity import read_events
from testbed.run.folder import RunFolder
from tests.emulation.open_files import open_files

ROOT = Path(__file__).parents[2]
PATIENCE_S = 900

PAIR = """
name: {name}
seed: 3
duration: {duration}
network: {{generator: chain, nodes: 3, link: {{latency: 10ms}}}}
defaults:
  client: {{lead: 2s}}
  {defaults}
brokers:
  B: {{count: 3, place: one_per_node}}
overlay: {{generator: chain}}
clients:
  pub: {{kind: publisher, broker: B1, publish: {{source: stock, rate: 5/s, parameters: {{symbol: YHOO}}}}}}
  sub: {{kind: subscriber, broker: B3, subscribe: ["[class,eq,'STOCK']"]}}
{more}
"""


def write(folder: Path, name: str, duration: str = "5s", defaults: str = "", more: str = "") -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(PAIR.format(name=name, duration=duration, defaults=defaults, more=more))
    return path


def command_line(*arguments: object) -> list[str]:
    return [str(Path(sys.executable).parent / "testbed"), *map(str, arguments)]


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command_line(*arguments),
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def latest(results: Path, name: str) -> RunFolder:
    return RunFolder((results / name / "latest").resolve())


def events(folder: RunFolder) -> list[LogEvent]:
    return [event for path in sorted(folder.events.glob("*.jsonl")) for event in read_events(path)]


def of_kind(folder: RunFolder, kind: str) -> list[LogEvent]:
    return [event for event in events(folder) if event.kind == kind]


def guests_of(results: Path) -> dict[int, bytes]:
    """Processes of this test's runs, with their command lines.

    They name the results or the guest's control folder in their command line, or hold files of the results.
    """
    controls = [json.loads(path.read_bytes())["control"] for path in results.rglob("guest.json")]
    marks = [str(results).encode(), *(control.encode() for control in controls)]
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            argv = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if int(entry.name) != os.getpid() and (
            any(mark in argv for mark in marks)
            or any(file.startswith(str(results)) for file in open_files(entry))
        ):
            found[int(entry.name)] = argv[:200]
    return found


def wait_until_gone(results: Path) -> None:
    deadline = time.monotonic() + 300  # of a clock that a busy machine does not slow
    while (left := guests_of(results)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert left == {}
