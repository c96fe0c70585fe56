"""Points as Spark tasks. Each task starts one process, waits for it, and tells how it went.

A task never fails: what went wrong is in its answer, so one bad point does not stop the others, and
Spark does not repeat what the sweep itself repeats. A point's standard input is a pipe that its task holds:
when it closes, for whatever reason (Ctrl-C, a killed executor), the point ends its run in order.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from testbed.run.folder import write_atomically
from testbed.sweep.point import Done

if TYPE_CHECKING:
    from pyspark import SparkContext

LAST_LINES = 8
TRY = "--- try "
PATIENCE_S = 30.0  # for a point that was asked to end
TICK_S = 1.0
RUNNING = "running"  # a file that is there while the point's process is


def finished(folder: Path) -> Done | None:
    """How the point ended, if it did; a run that may not be trusted is not it."""
    done = ended(folder)
    return None if done is None or done.code else done


def ended(folder: Path) -> Done | None:
    """The point's last word, good or bad."""
    try:
        return msgspec.json.decode((folder / "done.json").read_bytes(), type=Done)
    except (OSError, msgspec.DecodeError):
        return None


def attempt(folder: Path, retries: int, timeout_s: float) -> Done:
    """Run the point's process, again if it fails and may do better; its output is in FOLDER/log.txt."""
    failure = Done(folder.name, 1, "", "", 0.0)
    running = folder / RUNNING
    running.touch()
    try:
        for number in range(retries + 1):
            (folder / "done.json").unlink(missing_ok=True)
            reason = run_process(folder, number, timeout_s)
            done = finished(folder)
            if done is not None:
                return done
            failure = failed(folder, reason)
            if failure.final:
                break
        write_atomically(folder / "done.json", msgspec.json.encode(failure))
        return failure
    finally:
        running.unlink(missing_ok=True)


def failed(folder: Path, reason: str) -> Done:
    """What the point said last, if it came to say anything, with the reason as it is seen from here."""
    said = ended(folder) or Done(folder.name, 1, "", "", 0.0)
    return msgspec.structs.replace(said, reason=reason)


def run_process(folder: Path, number: int, timeout_s: float) -> str:
    """Why it failed, in a line or a few; empty if it did not."""
    command = [sys.executable, "-m", "testbed.sweep.point", str(folder)]
    with (folder / "log.txt").open("ab") as log:
        log.write(f"{TRY}{number + 1}\n".encode())
        log.flush()
        # A session of its own: a Ctrl-C of the terminal reaches it once, by the pipe.
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True
        )
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return f"not done after {timeout_s:g} s"
        finally:
            end(process)
    if code == 0:
        return ""
    said = ended(folder)
    if said is not None and said.reason:
        return said.reason
    return ": ".join(part for part in (how_it_ended(code), last_words(folder / "log.txt")) if part)


def how_it_ended(code: int) -> str:
    """`code` is as subprocess has it: below zero for a signal."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:  # a real-time signal has no name
        return f"killed by signal {-code}"


def last_words(log: Path) -> str:
    """The last lines of the last try."""
    lines = log.read_text(errors="replace").rpartition(TRY)[2].splitlines()[1:]
    return " | ".join(lines[-LAST_LINES:])


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end, and end it if it does not; a process that has ended is no trouble."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def run_on_spark(
    context: SparkContext,
    folders: list[Path],
    retries: int,
    timeout_s: float,
    tick: Callable[[], None],
) -> list[Done]:
    """All points, one Spark partition each; `tick` is called now and then: the folders tell the rest."""
    from testbed.analysis.spark.interruptible import interruptibly

    names = [str(folder) for folder in folders]

    def job() -> list[bytes]:
        one_each = context.parallelize(names, max(1, len(names)))
        return one_each.map(
            lambda name: msgspec.json.encode(attempt(Path(name), retries, timeout_s))
        ).collect()

    return [msgspec.json.decode(data, type=Done) for data in interruptibly(job, tick, TICK_S)]
