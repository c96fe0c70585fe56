"""Makes the class-data-sharing archive that halves Spark's start.

The archive holds the Java classes that an analysis loads. It is made once per Java and clone by running a
small analysis, lives in the user's cache and is never needed: without it everything works, only slower.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from testbed.analysis.spark.session import archive_path, find_java, spark_home
from testbed.errors import TestbedError

WAIT_S = 120


def make(force: bool = False) -> Path:
    """The archive's path; made when there is none that Java accepts. Raises TestbedError."""
    java = find_java()
    target = archive_path(java)
    if not force and fits(target, java):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    _forget_gone_clones(target.parent)
    scratch = target.with_suffix(f".{os.getpid()}.tmp")
    command = [sys.executable, "-m", "testbed.analysis.spark.class_archive", "--train", str(scratch)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise TestbedError(f"the training run failed: {(answer.stderr or answer.stdout).strip()[-300:]}")
    _wait_for(scratch)
    scratch.replace(target)
    _origin(target).write_text(f"{spark_home()}\n")
    return target


def fits(archive: Path, java: str) -> bool:
    """Java says so: it compares the archive with its own version and with every jar's path, size and time. An
    archive that does not fit is passed over in silence when Spark starts."""
    if not archive.exists():
        return False
    question = [java, "-Xshare:on", "-XX:+UseSerialGC", f"-XX:SharedArchiveFile={archive}"]
    question += ["-cp", _class_path(java), "-version"]
    return subprocess.run(question, capture_output=True, check=False).returncode == 0


def _class_path(java: str) -> str:
    """As Spark's own launcher will give it to Java."""
    launcher = [java, "-XX:TieredStopAtLevel=1", "-cp", f"{spark_home()}/jars/*"]
    known = {**os.environ, "SPARK_HOME": str(spark_home()), "SPARK_SCALA_VERSION": "2.13"}
    command = [
        *launcher,
        "org.apache.spark.launcher.Main",
        "org.apache.spark.deploy.SparkSubmit",
        "pyspark-shell",
    ]
    said = subprocess.run(command, capture_output=True, env=known, text=True, check=False).stdout.split("\0")
    return said[said.index("-cp") + 1] if "-cp" in said else ""


def _origin(archive: Path) -> Path:
    return archive.with_suffix(".origin")


def _forget_gone_clones(folder: Path) -> None:
    """An archive takes 170 MB; those of deleted clones, or of which nobody knows the clone, go."""
    for archive in folder.glob("*.jsa"):
        origin = _origin(archive)
        if not origin.exists() or not Path(origin.read_text().strip()).exists():
            archive.unlink()
            origin.unlink(missing_ok=True)


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
    from testbed.analysis.sample.run_folder import make_run
    from testbed.analysis.spark.session import start

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
        before = fits(archive_path(find_java()), find_java())
        if "--check" in arguments:
            return 0 if before else 1
        path = make("--force" in arguments)
    except TestbedError as error:
        print(f"error: {error}" + (f"\nfix: {error.hint}" if error.hint else ""), file=sys.stderr)
        return error.exit_code
    if not before:
        print(f"Spark class archive: {path} ({path.stat().st_size // 2**20} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
