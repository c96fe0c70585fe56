"""A Spark session that starts fast and says nothing it was not asked."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from testbed.analysis.spark.master import check_master
from testbed.errors import TestbedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOGGING = Path(__file__).with_name("log4j2.properties")
# Input beyond this is worth the optimising compiler; below, starting it costs more than it gains.
SMALL_INPUT = 64 * 1024 * 1024
JAVA_HINT = (
    "install Java 17: `make setup`, or `apt-get install openjdk-17-jre-headless`; `testbed doctor` checks it"
)


class NoJava(TestbedError):
    """Spark needs a Java runtime and none was found."""


def find_java() -> str:
    """The java program that Spark will start; raises NoJava."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home, "bin"))) if home else shutil.which("java")
    if found is None:
        where = f"JAVA_HOME={home} has no bin/java" if home else "there is no `java` on the PATH"
        raise NoJava(f"Spark cannot start: {where}", hint=JAVA_HINT)
    return found


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "pubsub-testbed" / "spark"


def spark_home() -> Path:
    """Where Spark's jars are, found without importing it."""
    if given := os.environ.get("SPARK_HOME"):
        return Path(given)
    spec = importlib.util.find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise TestbedError("pyspark is not installed", hint="`make setup` installs it")
    return Path(spec.submodule_search_locations[0])


def archive_path(java: str) -> Path:
    """Where the class-data-sharing archive for this Java and this Spark lives (see class_archive.py). Java
    takes it only for jars at the very path it was made from, so each clone of the project has its own."""
    real = Path(java).resolve()
    place = hashlib.sha256(str(spark_home()).encode()).hexdigest()[:8]
    stamp = f"{real.parent.parent.name}-{real.stat().st_mtime_ns:x}-{place}"
    return cache_folder() / f"classes-{importlib.metadata.version('pyspark')}-{stamp}.jsa"


def java_options(java: str, small_input: bool, archive: Path | None = None) -> str:
    """`small_input`: below SMALL_INPUT.

    `archive`: write one there at exit instead of using what is in the cache.
    """
    options = [f"-Dlog4j2.configurationFile={LOGGING.as_uri()}", "-Xshare:auto", "-XX:+UseSerialGC"]
    if small_input:
        options.append("-XX:TieredStopAtLevel=1")
    if archive is not None:
        options.append(f"-XX:ArchiveClassesAtExit={archive}")
    elif archive_path(java).exists():
        options.append(f"-XX:SharedArchiveFile={archive_path(java)}")
    return " ".join(options)


def start(
    master: str = "local[*]",
    input_bytes: int = 0,
    settings: dict[str, str] | None = None,
    archive: Path | None = None,
) -> SparkSession:
    """One session for all tables. Raises InputError for a master that is none, and TestbedError when Spark
    cannot be had, with what it said."""
    check_master(master)
    java = find_java()
    # Tasks import the testbed: they must run this Python, not the first one on the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1") if master.startswith("local") else None
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("testbed analyze")
    for key, value in {**defaults(master, java, input_bytes, archive), **(settings or {})}.items():
        builder = builder.config(key, value)
    with captured_stderr() as said:
        try:
            session = builder.getOrCreate()
        except Exception as error:
            hint = hint_for(f"{said.read_text(errors='replace')}\n{error}", master)
            raise TestbedError(f"Spark did not start: {reason(said, error)}", hint=hint) from error
    session.sparkContext.setLogLevel("OFF")
    # PySpark's own logger prints every error that is raised anyway.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    return session


def defaults(master: str, java: str, input_bytes: int, archive: Path | None) -> dict[str, str]:
    """Settings that matter for local runs; a cluster keeps its own Java options."""
    settings = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.python.filterPushdown.enabled": "true",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(shuffle_partitions(input_bytes)),
        "spark.sql.catalogImplementation": "in-memory",
    }
    if master.startswith("local"):
        settings["spark.driver.extraJavaOptions"] = java_options(java, input_bytes < SMALL_INPUT, archive)
        settings["spark.driver.bindAddress"] = "127.0.0.1"
        settings["spark.driver.host"] = "127.0.0.1"
        settings["spark.driver.memory"] = f"{heap_gigabytes(input_bytes)}g"
        # Percentiles keep a table per group; more than 128 groups would be sorted instead, at twice the cost.
        settings["spark.sql.objectHashAggregate.sortBased.fallbackThreshold"] = "10000"
        settings["spark.python.unix.domain.socket.enabled"] = "true"
        settings["spark.python.daemon.module"] = "testbed.analysis.spark.daemon"
    return settings


def heap_gigabytes(input_bytes: int) -> int:
    """A limit, not a reservation: 2 for small input, else a third of the machine's memory, at most 8."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    return 2 if input_bytes < SMALL_INPUT else max(2, min(8, physical // 3))


def shuffle_partitions(input_bytes: int) -> int:
    """Two tasks per core at least; more when the input is large, so that a task's memory stays bounded."""
    cores = os.cpu_count() or 2
    return max(min(cores, 8), input_bytes // (64 * 1024 * 1024))


@contextlib.contextmanager
def captured_stderr() -> Iterator[Path]:
    """A child started meanwhile writes its stderr into a file: the JVM keeps it, nameless, for life."""
    handle, name = tempfile.mkstemp(prefix="testbed-spark-", suffix=".log")
    saved = os.dup(2)
    sys.stderr.flush()
    os.dup2(handle, 2)
    try:
        yield Path(name)
    finally:
        sys.stderr.flush()
        os.dup2(saved, 2)
        os.close(saved)
        os.close(handle)
        os.unlink(name)


def reason(said: Path, error: Exception) -> str:
    """The most telling line of the JVM's output, or of the exception."""
    lines = [line.strip() for line in said.read_text(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "rror" in line or "xception" in line]
    text = (telling or lines or [str(error) or type(error).__name__])[-1 if not telling else 0]
    return text[:300]


def hint_for(text: str, master: str) -> str:
    """What may help, given all that was said: Java only where it is too old or did not come up."""
    if "UnsupportedClassVersionError" in text or ("GATEWAY_EXITED" in text and "apache.spark" not in text):
        return JAVA_HINT
    if not master.startswith("local"):
        return f"is the cluster at {master} up, and can it reach this machine (SPARK_LOCAL_IP)?"
    return "`testbed doctor` checks Java and Spark; the same command with --debug shows the whole error"


def java_version(java: str) -> str:
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    return (answer.stderr or answer.stdout).partition("\n")[0]
