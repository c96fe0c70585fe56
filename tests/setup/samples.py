"""The code samples of the documents: fenced or indented blocks, with the place where each stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KINDS = ("*.md", "docs/*.md", "experiments/*/NOTES.md")
LISTED = re.compile(r"\s*([-*]|\d+\.) ")
SHELL = "testbed make python pytest git sudo mkdir cp systemctl loginctl limactl ."
COMMANDS = SHELL.split()  # with what a shell sample begins


@dataclass(frozen=True)
class Sample:
    file: str
    line: int
    language: str  # of the fence; "" for an indented one and a fence that does not say
    text: str

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def kind(self) -> str:
        if self.language:
            return self.language
        first = self.text.split()[0]
        if first in COMMANDS:
            return "shell"
        if re.match(r"(from|import) \w", self.text):
            return "python"
        return "yaml" if re.match(r"[a-z_]+:\n", self.text) else "shown"


def samples(repository: Path) -> list[Sample]:
    return [
        sample
        for pattern in KINDS
        for path in sorted(repository.glob(pattern))
        for sample in _of(str(path.relative_to(repository)), path.read_text(encoding="utf-8").split("\n"))
    ]


def _of(file: str, lines: list[str]) -> Iterator[Sample]:
    number = 0
    while number < len(lines):
        begun = number
        if lines[number].startswith("```"):
            number = lines.index("```", number + 1)
            yield Sample(file, begun + 1, lines[begun][3:].strip(), "\n".join(lines[begun + 1 : number]))
        elif _begins(lines, number):
            while number < len(lines) and (lines[number].startswith("    ") or not lines[number].strip()):
                number += 1
            yield Sample(
                file, begun + 1, "", "\n".join(line[4:] for line in lines[begun:number]).rstrip() + "\n"
            )
            continue
        number += 1


def _begins(lines: list[str], number: int) -> bool:
    """An indented block after an empty line; a list's second paragraph is none."""
    indented = lines[number].startswith("    ") and not LISTED.match(lines[number])
    return indented and (number == 0 or not lines[number - 1].strip())
