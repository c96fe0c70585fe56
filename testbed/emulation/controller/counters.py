"""Appending what the switches counted, as JSON lines of `PortCounter` and `FlowCounter`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import msgspec

from protos.records import FlowCounter, PortCounter


class CounterFiles:
    def __init__(self, ports: Path, flows: Path) -> None:
        self._ports = _append(ports)
        self._flows = _append(flows)

    def ports(self, rows: Iterable[PortCounter]) -> None:
        _write(self._ports, rows)

    def flows(self, rows: Iterable[FlowCounter]) -> None:
        _write(self._flows, rows)

    def close(self) -> None:
        for file in (self._ports, self._flows):
            file.flush()
            os.fsync(file.fileno())
            file.close()


def _append(path: Path) -> BinaryIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("ab")


def _write(file: BinaryIO, rows: Iterable[PortCounter | FlowCounter]) -> None:
    file.write(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    file.flush()
