"""The event log: whole lines, stamps, restarts, torn lines and full disks."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import msgspec
import pytest

from broker_grpc.process.clock import RunClock
from broker_grpc.process.eventlog import EventLog
from protos.records import LogEvent


def lines(path: Path) -> list[LogEvent]:
    return [msgspec.json.decode(line, type=LogEvent) for line in path.read_bytes().splitlines() if line]


def open_log(path: Path, **options: int) -> EventLog:
    return EventLog(path, "B1", RunClock(0), **options)


def test_events_are_stamped_and_defaults_left_out(tmp_path: Path) -> None:
    path = tmp_path / "B1.jsonl"
    log = open_log(path)
    log.write(LogEvent(kind="STARTED"))
    log.write(LogEvent(t_us=7, node="c1", kind="DELIVERED", message="p:1", hops=2))
    log.close()
    first, second = lines(path)
    assert (first.n, first.node, first.kind) == (1, "B1", "STARTED")
    assert first.t_us > 0
    assert (second.n, second.node, second.t_us, second.hops) == (2, "c1", 7, 2)
    assert path.read_bytes().splitlines()[1] == (
        b'{"t_us":7,"n":2,"node":"c1","kind":"DELIVERED","message":"p:1","hops":2}'
    )


def test_every_write_to_the_file_ends_with_a_whole_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks: list[bytes] = []
    real = os.write

    def spy(fd: int, data: bytes) -> int:
        chunks.append(bytes(data))
        return real(fd, data)

    monkeypatch.setattr(os, "write", spy)
    log = open_log(tmp_path / "x.jsonl", flush_bytes=500)
    for number in range(100):
        log.write(LogEvent(kind="SENT", message=f"m{number}"))
    log.close()
    assert 5 < len(chunks) < 50
    assert all(chunk.endswith(b"\n") for chunk in chunks)


def test_a_restart_after_a_torn_line_loses_only_that_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"t_us":1,"n":1,"kind":"STARTED"}\n{"t_us":2,"n":2,"ki')
    log = open_log(path)
    log.write(LogEvent(t_us=3, kind="STARTED"))
    log.close()
    whole = path.read_bytes().split(b"\n")
    assert msgspec.json.decode(whole[0])["t_us"] == 1
    assert whole[1] == b'{"t_us":2,"n":2,"ki'
    assert msgspec.json.decode(whole[2])["t_us"] == 3


def test_the_owner_is_told_once_per_buffer(tmp_path: Path) -> None:
    told: list[int] = []
    log = EventLog(tmp_path / "x.jsonl", "B1", RunClock(0), on_first=lambda: told.append(1))
    for _ in range(5):
        log.write(LogEvent(kind="SENT"))
    assert len(told) == 1
    log.flush()
    log.write(LogEvent(kind="SENT"))
    assert len(told) == 2


class Disk:
    """os.write on a disk with `room` bytes left."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.real = os.write

    def write(self, fd: int, data: bytes) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        count = self.real(fd, bytes(data[: self.room]))
        self.room -= count
        return count


def test_a_full_disk_is_survived_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    disk = Disk(room=1010)  # not a multiple of the line length: one line is cut in the middle
    monkeypatch.setattr(os, "write", disk.write)
    path = tmp_path / "x.jsonl"
    log = open_log(path, flush_bytes=200, backlog_bytes=1000)
    for number in range(500):
        log.write(LogEvent(t_us=1, kind="SENT", message=f"m{number:04}"))
    assert log.lost > 300
    assert capsys.readouterr().err.count("No space left on device") == 1

    disk.room = 1_000_000
    log.write(LogEvent(t_us=1, kind="STOPPED"))
    log.close()
    events = lines(path)  # every line is whole again, the cut one too
    assert len(events) + log.lost == 501 + 1  # and one line about the loss
    assert sum(event.kind == "DROPPED" for event in events) == 1
    assert [event.n for event in events] == sorted(event.n for event in events)


def test_a_real_full_device(capsys: pytest.CaptureFixture[str]) -> None:
    log = open_log(Path("/dev/full"), flush_bytes=100, backlog_bytes=100)
    for _ in range(50):
        log.write(LogEvent(kind="SENT"))
    log.close()
    assert log.lost == 50
    assert "No space left" in capsys.readouterr().err
