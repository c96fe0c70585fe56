"""Ctrl-C while a guest boots and nobody inside could hear of a signal: each instant that the engine sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from testbed.emulation.guest.engine import GuestEngine
from testbed.errors import RunFailed
from testbed.run.folder import RunFolder


class BootingGuest:
    """A guest whose runner says `words`; `at` is when Ctrl-C comes."""

    def __init__(self, interrupt: Callable[[], None], at: str, words: list[str]) -> None:
        self._interrupt, self._at, self._words = interrupt, at, words
        self.dead = self.detached = False
        self.signals: list[int] = []
        self.code: int | None = None
        self.number = 1

    def start(self, argv: list[str]) -> Any:
        if self._at == "start":
            self._interrupt()
        return self

    def lines(self, meanwhile: object) -> Iterator[str]:
        if self._at == "boot":
            self._interrupt()
        for word in [] if self.dead else self._words:
            yield word
            if self._at == "run":
                self._interrupt()

    def signal(self, number: int) -> None:
        self.signals.append(number)

    def wait(self) -> int:
        self.code = 1 if self.dead or self.signals else 0
        return self.code

    def kill(self) -> None:
        self.dead = True


def engine_with(tmp_path: Path, at: str) -> tuple[GuestEngine, BootingGuest]:
    engine = GuestEngine()
    guest = BootingGuest(engine.stop, at, ['{"t": "state", "state": "network"}'])
    engine._guest, engine._run = guest, RunFolder(tmp_path)  # type: ignore[assignment]
    return engine, guest


def test_before_the_runner_is_known(tmp_path: Path) -> None:
    engine, guest = engine_with(tmp_path, "start")
    with pytest.raises(RunFailed, match="while the guest booted"):
        engine.execute(lambda event: None)
    assert guest.dead


def test_before_the_runner_has_spoken(tmp_path: Path) -> None:
    engine, guest = engine_with(tmp_path, "boot")
    assert engine.execute(lambda event: None) == 1
    assert guest.dead
    assert guest.signals == [], "nobody would hear it"


def test_a_runner_that_has_spoken_ends_in_order(tmp_path: Path) -> None:
    engine, guest = engine_with(tmp_path, "run")
    assert engine.execute(lambda event: None) == 1
    assert not guest.dead
    assert guest.signals == [2]
