"""What a process has started, and what is waited for."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from testbed.analysis.spark.offspring import descendants, end_offspring, orphans_kept

# Starts a process that writes its number and works for so long, and ends without it.
PARENT = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", {child!r}, *sys.argv[1:]])
"""
CHILD = """
import os, sys, time
open(sys.argv[1] + ".new", "w").write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(float(sys.argv[2]))
"""


def start_orphan(note: Path, seconds: float) -> int:
    subprocess.run([sys.executable, "-c", PARENT.format(child=CHILD), str(note), str(seconds)], check=True)
    while not note.exists():
        time.sleep(0.01)
    return int(note.read_text())


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_an_orphan_is_waited_for_and_needs_no_word(tmp_path: Path) -> None:
    with orphans_kept() as before:
        orphan = start_orphan(tmp_path / "note", 0.5)
        assert orphan in descendants(os.getpid(), before)
        assert end_offspring(before, 600) == []
    assert not is_there(orphan)


def test_one_that_does_not_end_is_killed_and_named(tmp_path: Path) -> None:
    with orphans_kept() as before:
        orphan = start_orphan(tmp_path / "note", 3600)
        (word,) = end_offspring(before, 0.1)
    assert word.startswith(f"process {orphan} (")
    assert word.endswith("had not ended after 0.1 s: killed")
    assert not is_there(orphan)


def test_what_was_there_before_is_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as older:
        with orphans_kept() as before:
            assert older.pid in before
            assert end_offspring(before, 0.1) == []
        assert older.poll() is None


def test_orphans_are_kept_no_longer_than_asked(tmp_path: Path) -> None:
    with orphans_kept():
        pass
    orphan = start_orphan(tmp_path / "note", 0.2)
    assert orphan not in descendants(os.getpid())
