"""Scenario files: input and output in one readable text, as etcd raft's testdata.

    # What happens here, and which section of the paper says so.
    publish P
    settle
    ----
    P -> B1           publication P:1
    B1 -> B2 s1       publication P:1

Commands stand above `----`, what the machines said below it, up to the next empty line. Lines with `#` are
for readers. `pytest tests/scenario --rewrite` puts what was said now in place of what was expected: review
the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SAID = "----"
NOTHING = "ok"  # where nothing was said

Play = Callable[[str], list[str]]  # a command -> what was said


@dataclass(frozen=True)
class Step:
    """Commands that are played together. `expected` is empty in a file that is new."""

    remarks: tuple[str, ...]
    commands: tuple[str, ...]
    expected: tuple[str, ...]
    line: int  # of the first command

    def text(self, said: tuple[str, ...]) -> str:
        return "\n".join([*self.remarks, *self.commands, SAID, *said])


class Mistake(ValueError):
    """A scenario file that cannot be played; says where."""


def read(path: Path) -> list[Step]:
    steps, begun = [], 0
    lines = path.read_text().splitlines()
    for at, line in enumerate([*lines, ""]):
        if not line.strip():
            if block := lines[begun:at]:
                steps.append(_step(block, begun + 1, path))
            begun = at + 1
    return steps


def _step(block: list[str], line: int, path: Path) -> Step:
    if SAID not in block and any(not text.startswith("#") for text in block):
        raise Mistake(f"{path.name}:{line}: commands without {SAID!r}")
    above = block[: block.index(SAID)] if SAID in block else block
    remarks = tuple(text for text in above if text.startswith("#"))
    commands = tuple(text for text in above if not text.startswith("#"))
    expected = tuple(block[len(above) + 1 :])
    return Step(remarks, commands, expected, line + len(remarks))


def played(steps: list[Step], play: Play, path: Path) -> list[tuple[str, ...]]:
    """What was said at each step."""
    out = []
    for step in steps:
        said: list[str] = []
        for number, command in enumerate(step.commands):
            try:
                said += play(command)
            except Mistake as mistake:
                raise Mistake(f"{path.name}:{step.line + number}: {mistake}") from None
        out.append(tuple(said) or (NOTHING,))
    return out


def rendered(steps: list[Step], said: list[tuple[str, ...]]) -> str:
    blocks = [
        step.text(now) if step.commands else "\n".join(step.remarks)
        for step, now in zip(steps, said, strict=True)
    ]
    return "\n\n".join(blocks) + "\n"


def check(path: Path, play: Play, rewrite: bool) -> None:
    """Plays the file; with `rewrite` the file says afterwards what was said, else it must have said so."""
    steps = read(path)
    text = rendered(steps, played(steps, play, path))
    if rewrite:
        path.write_text(text)
    expected = path.read_text().splitlines()  # by lines: pytest shows the difference
    assert text.splitlines() == expected, f"{path} differs; --rewrite puts it right, if it is right"
