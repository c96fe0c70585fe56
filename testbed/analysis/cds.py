"""Makes the class-data-sharing archive that halves Spark's start: `python -m testbed.analysis.cds`.

The archive holds the Java classes that an analysis loads. It is made once per Java and Spark by running a
small analysis, lives in the user's cache and is never needed: without it everything works, only slower.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from testbed.analysis.session import archive_path, find_java
from testbed.errors import TestbedError

WAIT_S = 120


def make(force: bool = False) -> Path:
    """The archive's path; made when it is not there yet. Raises TestbedError."""
    target = archive_path(find_java())
    if target.exists() and not force:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_suffix(f".{os.getpid()}.tmp")
    command = [sys.executable, "-m", "testbed.analysis.cds", "--train", str(scratch)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise TestbedError(f"the training run failed: {(answer.stderr or answer.stdout).strip()[-300:]}")
    _wait_for(scratch)
    scratch.replace(target)
    return target


def _wait_for(archive: Path) -> None:
    """The JVM writes the archive while it exits, after Python has gone on."""
    deadline = time.monotonic() + WAIT_S
    size = -1
    while time.monotonic() < deadline:
        now = archive.stat().st_size if archive.exists() else -1
        if now > 0 and now == size:
            return
        size = now
        time.sleep(1)
    raise TestbedError(f"Java wrote no archive within {WAIT_S} s")


def train(archive: Path) -> None:
    """Run a small analysis in a JVM that archives its classes when it exits."""
    from testbed.analysis.pipeline import analyze
    from testbed.analysis.sample import make_run
    from testbed.analysis.session import start

    with tempfile.TemporaryDirectory() as folder:
        make_run(Path(folder, "run"), publications=5)
        spark = start("local[2]", archive=archive)
        analyze([Path(folder, "run")], spark=spark)
        spark.stop()
        gateway = spark.sparkContext._gateway
        if gateway is not None:
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait(WAIT_S)


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--train"]:
        train(Path(arguments[1]))
        return 0
    try:
        before = archive_path(find_java()).exists()
        path = make("--force" in arguments)
    except TestbedError as error:
        print(f"error: {error}" + (f"\nfix: {error.hint}" if error.hint else ""), file=sys.stderr)
        return error.exit_code
    if not before:
        print(f"Spark class archive: {path} ({path.stat().st_size // 2**20} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
