"""One point of a sweep, in a process of its own: `python -m testbed.sweep.point FOLDER`.

FOLDER/point.json, and plan.json or computation.json, say what to do; FOLDER/done.json, written last, says how
it went. The run is ended in order when standard input is a pipe and closes: nobody waits for it any more.
The process holds FOLDER/lock, so that a point is never done twice at once.
"""

from __future__ import annotations

import os
import signal
import stat
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from testbed.errors import TestbedError
from testbed.run.folder import write_atomically
from testbed.sweep.computation import FILE, compute, read_computation
from testbed.sweep.grid import set_at
from testbed.sweep.lock import hold
from testbed.topology.plan import Plan

if TYPE_CHECKING:
    from testbed.run.deploy import Outcome

PLAN = "plan.json"


class Task(msgspec.Struct):
    """point.json; engine and clock are resolved, and empty for a computation."""

    id: str
    topology: str  # file; empty for a plan that was made without one, and for a computation
    engine: str
    clock: str
    seed: int
    settings: dict[str, Any]


class Done(msgspec.Struct):
    """done.json"""

    id: str
    code: int  # 0 = a run that is done and to be trusted
    run: str  # folder of the run or of the tables, relative to the point's
    reason: str
    wall_seconds: float
    final: bool = False  # a further try would end in the same way


def plan_of(task: Task) -> Plan:
    """The topology with the point's settings; raises InputError."""
    from testbed.topology.file.document import read_document
    from testbed.topology.load import resolve

    path = Path(task.topology)
    document = read_document(path)
    for place, value in task.settings.items():
        set_at(document.data, place, value)
    return resolve(document, path.parent, task.seed)


def do_point(folder: Path) -> Done:
    """A computation that fails tells where: its traceback is for the log."""
    task = msgspec.json.decode((folder / "point.json").read_bytes(), type=Task)
    started = time.monotonic()
    try:
        if (folder / FILE).exists():
            done = Done(task.id, 0, compute(read_computation(folder), folder, _log), "", 0.0)
        else:
            done = run_plan(task, folder)
    except TestbedError as error:
        done = Done(task.id, error.exit_code, "", str(error), 0.0)
    except Exception as error:
        traceback.print_exc()
        done = Done(task.id, 1, "", f"{type(error).__name__}: {error}", 0.0)
    done.wall_seconds = round(time.monotonic() - started, 3)
    return done


def _log(line: str) -> None:
    print(line, flush=True)  # the log is looked at while the point runs


def run_plan(task: Task, folder: Path) -> Done:
    from testbed.run.deploy import deploy, prepare
    from testbed.run.display import PlainView
    from testbed.run.engine import Options, choose
    from testbed.topology.plan import load

    plan = load((folder / PLAN).read_bytes())
    source = Path(task.topology) if task.topology else None
    engine, clock, _ = choose(task.engine, task.clock or None)
    run = prepare(plan, source, folder, engine.name, clock, f"testbed sweep: {task.id}")
    outcome = deploy(run, engine, Options(clock), PlainView(sys.stdout))
    where = str(run.path.relative_to(folder.resolve()))
    return Done(task.id, outcome.code, where, outcome.manifest.reason, 0.0, failed_by_itself(outcome))


def failed_by_itself(outcome: Outcome) -> bool:
    """Whether it was the simulated run that failed, and so would again. Not one that was stopped, nor one
    that the machine failed (a full disk): then the simulator did not come to write the fidelity."""
    manifest = outcome.manifest
    whole = outcome.fidelity is not None
    return manifest.engine == "simulate" and manifest.status == "failed" and whole


def end_with_input() -> None:
    """End this process like a SIGTERM as soon as its input ends."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    if stat.S_ISFIFO(os.fstat(0).st_mode):
        threading.Thread(target=watch, name="input", daemon=True).start()


def main(folder: Path) -> int:
    end_with_input()
    with hold(folder / "lock"):
        done = do_point(folder)
        write_atomically(folder / "done.json", msgspec.json.encode(done))
    if done.code:
        print(done.reason, file=sys.stderr)
    return done.code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
