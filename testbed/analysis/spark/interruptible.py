"""Spark's work in a thread apart, so that Ctrl-C never strikes inside a call to Java.

There it would leave a connection half read, and PySpark would print its traceback. The main thread only
waits; on Ctrl-C it ends Spark's processes, and with them the call.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import TypeVar

from testbed.analysis.spark.offspring import command_line, descendants, send

T = TypeVar("T")
PATIENCE_S = 15.0  # for Java that was asked to end
DRIVER = b"pyspark-shell"  # on the command line of all that PySpark starts
EXECUTOR = b"org.apache.spark.executor"


def interruptibly(
    action: Callable[[], T], tick: Callable[[], None] = lambda: None, every_s: float = 0.2
) -> T:
    """What the action returns or raises; `tick` is called meanwhile."""
    found: list[T] = []
    problem: list[BaseException] = []
    over = Event()  # not the thread's own state: a Ctrl-C in `join` makes Python 3.11 think that it has ended

    def job() -> None:
        try:
            found.append(action())
        except BaseException as error:
            problem.append(error)
        finally:
            over.set()

    try:
        Thread(target=job, name="spark", daemon=True).start()
        while not over.wait(every_s):
            tick()
        tick()
    except BaseException:
        _cut_short(over)
        raise
    if problem:
        raise problem[0]
    return found[0]


def _cut_short(over: Event) -> None:
    """Again until it is over: Java may be about to be started when it is first looked for."""
    limit = time.monotonic() + PATIENCE_S
    end_spark()
    while not over.wait(0.2) and time.monotonic() < limit:
        end_spark()


def end_spark() -> None:
    """Java and its executors, in order if they will: nothing of Spark is left of this process."""
    silence()
    tree = descendants(os.getpid())
    driver = [pid for pid in tree if DRIVER in command_line(pid)]
    java = [pid for pid in tree if EXECUTOR in command_line(pid)]
    send(driver, signal.SIGTERM)
    if not _gone([*driver, *java], PATIENCE_S):
        send([*driver, *java], signal.SIGKILL)
        _gone([*driver, *java], PATIENCE_S)


def silence() -> None:
    """PySpark would tell of each connection to Java that is cut: its bridge by loggers of its own and by the
    root, its servers of accumulators with a traceback."""
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_not_of_py4j)
    accumulators = sys.modules.get("pyspark.accumulators")
    for name in ("AccumulatorTCPServer", "AccumulatorUnixServer"):
        if server := getattr(accumulators, name, None):
            server.handle_error = lambda *_: None


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"


def _gone(pids: list[int], seconds: float) -> bool:
    limit = time.monotonic() + seconds
    while any(command_line(pid) for pid in pids):
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True
