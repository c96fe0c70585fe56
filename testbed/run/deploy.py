"""From a plan to a finished run folder, on any engine."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shlex
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from broker_grpc.registry import registry
from protos.records import Fidelity, Manifest
from testbed.errors import TestbedError, explain
from testbed.run.asker import belongs_to_asker
from testbed.run.engine import Clock, Engine, Event, Options
from testbed.run.folder import RunFolder, make_results
from testbed.run.inputs import keep
from testbed.run.repository import git_state
from testbed.run.reserve import is_full, release, reserve
from testbed.topology.plan import Plan, dump

LATEST = "latest"
ROOM_HINT = "remove old runs, or use --results DIR"


@dataclass(frozen=True)
class Outcome:
    """How a deployment ended. `code` is the exit code: 0 only for a run that is done and to be trusted."""

    folder: RunFolder
    manifest: Manifest
    fidelity: Fidelity | None
    code: int
    kept: bool


def run_id(now: datetime) -> str:
    """Sorts by time, and two runs of the same second differ."""
    return f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(2)}"


def prepare(
    plan: Plan, source: Path | None, results: Path, engine: str, clock: Clock, command: str = ""
) -> RunFolder:
    """A new run folder with all that an engine reads, and `latest` pointing to it; or nothing.

    Raises InputError for a results folder that cannot be written, TestbedError for a full disk.
    """
    now = datetime.now(UTC)
    home = (results / plan.name).resolve()
    make_results(home)
    if is_full(home):
        raise TestbedError("the disk is full", file=home, hint=ROOM_HINT)
    folder = RunFolder(home / run_id(now))
    try:
        with belongs_to_asker(folder.path, home / LATEST):
            _fill(folder, plan, source, engine, clock, now, command)
    except BaseException as error:
        shutil.rmtree(folder.path, ignore_errors=True)
        if isinstance(error, OSError):
            what = f"the run folder cannot be made: {explain(error)}"
            raise TestbedError(what, file=home, hint=ROOM_HINT) from error
        raise
    return folder


def _fill(
    folder: RunFolder, plan: Plan, source: Path | None, engine: str, clock: Clock, now: datetime, command: str
) -> None:
    folder.create()
    reserve(folder.path)
    folder.plan.write_bytes(dump(keep(plan, folder.path)))
    registry()  # packages beside this one register their messages when they are found
    folder.write_catalogue()
    if source is not None:
        folder.topology.write_bytes(source.read_bytes())
    folder.write_manifest(first_manifest(plan, folder, engine, clock, now, command))
    point_latest(folder.path)


def first_manifest(
    plan: Plan, folder: RunFolder, engine: str, clock: Clock, now: datetime, command: str
) -> Manifest:
    commit, dirty = git_state()
    inputs = [path for path in (folder.topology, folder.plan) if path.exists()]
    return Manifest(
        run=folder.path.name,
        name=plan.name,
        engine=engine,
        clock=clock,
        seed=plan.seed,
        status="running",
        started=now.isoformat(timespec="seconds"),
        version=metadata.version("pubsub-testbed"),
        commit=commit,
        dirty=dirty,
        hashes={path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in inputs},
        command=command or shlex.join(["testbed", *sys.argv[1:]]),
        tls=plan.tls,
    )


def point_latest(folder: Path) -> None:
    """Atomically, so that two deployments at once leave one of the two, not none."""
    scratch = folder.parent / f".latest-{folder.name}"
    scratch.symlink_to(folder.name)
    try:
        os.replace(scratch, folder.parent / LATEST)
    except OSError:
        scratch.unlink()
        raise


# ---------------------------------------------------------------- running


def deploy(folder: RunFolder, engine: Engine, options: Options, on_event: Callable[[Event], None]) -> Outcome:
    """Run a prepared folder. Ctrl-C ends it in order, a second one at once; the folder stays readable."""
    started = time.monotonic()
    kept = False

    def relay(event: Event) -> None:
        nonlocal kept
        kept = kept or event["t"] == "kept"
        on_event(event | {"wall_s": round(time.monotonic() - started, 3)})

    code, reason = 1, ""
    with belongs_to_asker(folder.path), interrupts(engine) as interruptions:
        try:
            engine.start(folder, options)
            if interruptions:
                engine.stop()  # perhaps there was nothing to stop yet when they came
            code = engine.execute(relay)
        except TestbedError as error:
            reason = explain(error)
        except OSError as error:
            reason = explain(error)
        except Exception as error:  # of a machine, perhaps one of another package
            reason = broken_off(folder, engine.name, error)
        finally:
            with contextlib.suppress(OSError):
                engine.collect()
            engine.stop()
        manifest = close(folder, reason, time.monotonic() - started, interrupted=bool(interruptions))
    trusted = code == 0 and manifest.status == "done"
    return Outcome(folder, manifest, folder.read_fidelity(), 0 if trusted else 1, kept)


def broken_off(folder: RunFolder, engine: str, error: Exception) -> str:
    """Where something broke that should not; the whole of it is in the run's logs."""
    with contextlib.suppress(OSError):
        (folder.logs / f"{engine}.log").write_text("".join(traceback.format_exception(error)))
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({last.filename}:{last.lineno}; logs/{engine}.log has it all)"


def close(folder: RunFolder, reason: str, wall_seconds: float, interrupted: bool = False) -> Manifest:
    """Complete the manifest with what only the outside knows; `running` means that it did not end well."""
    manifest = folder.read_manifest()
    release(folder.path)
    if reason and manifest.status != "running" and not interrupted:
        manifest.status, manifest.reason = "failed", reason  # seen from outside only
    elif manifest.status == "running" and interrupted:
        manifest.status, manifest.reason = "aborted", "interrupted, and not given the time to end in order"
    elif manifest.status == "running":
        manifest.status = "failed"
        manifest.reason = reason or "the runner ended without a word; logs/runner.err may tell"
    manifest.ended = datetime.now(UTC).isoformat(timespec="seconds")
    manifest.wall_seconds = round(wall_seconds, 3)
    folder.write_manifest(manifest)
    return manifest


@contextlib.contextmanager
def interrupts(engine: Engine) -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM are orders to the engine, not exceptions in the middle of something.

    The list has the signals that came.
    """
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def interrupt(number: int, frame: object) -> None:
        came.append(number)
        engine.stop(hard=len(came) > 1)

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
