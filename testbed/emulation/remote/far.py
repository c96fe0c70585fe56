"""The other machine's part: `python -m testbed.emulation.remote.far`, started by ssh in the testbed's folder.

Standard input: one line, the job; its end is an order to stop. Standard output: progress as JSON lines, the
last of them `outcome` (then a tar of the run folder follows) or `refused`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tarfile
import tempfile
import threading
from pathlib import Path
from typing import IO, Any

import msgspec

from testbed.emulation.remote.job import Job, unpacked
from testbed.errors import TestbedError
from testbed.run.deploy import Outcome, deploy, prepare
from testbed.run.engine import Event, Options, choose


def main() -> int:
    out = own_output()
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=Job)
    finished = threading.Event()
    threading.Thread(target=stop_with_input, args=(finished,), name="input", daemon=True).start()
    try:
        outcome = run(job, lambda event: tell(out, event))
    except TestbedError as error:
        tell(out, {"t": "refused", "message": str(error), "hint": error.hint, "code": error.exit_code})
        return error.exit_code
    finished.set()
    tell(out, {"t": "outcome", "run": outcome.folder.path.name, "code": outcome.code})
    with tarfile.open(fileobj=out, mode="w|gz") as archive:
        archive.add(outcome.folder.path, ".", filter=lambda m: m if m.isfile() or m.isdir() else None)
    out.flush()
    return outcome.code


def own_output() -> IO[bytes]:
    """Standard output for us alone: whatever a library prints goes to standard error."""
    mine = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return mine


def stop_with_input(finished: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    if not finished.is_set():
        os.kill(os.getpid(), signal.SIGTERM)


def run(job: Job, on_event: Any) -> Outcome:
    engine, clock, reason = choose(job.engine, job.clock or None)
    on_event({"t": "chosen", "engine": engine.name, "clock": clock, "reason": reason})
    with tempfile.TemporaryDirectory(prefix="pubsub-testbed-") as arrived:
        source = Path(arrived) / "topology.yaml" if job.topology else None
        if source is not None:
            source.write_text(job.topology, encoding="utf-8")
        plan = unpacked(job, Path(arrived))
        folder = prepare(plan, source, Path("results"), engine.name, clock, job.command)
    return deploy(folder, engine, Options(clock, memory_mb=job.memory_mb), on_event)


def tell(out: IO[bytes], event: Event) -> None:
    out.write(msgspec.json.encode(event) + b"\n")
    out.flush()


if __name__ == "__main__":
    sys.exit(main())
