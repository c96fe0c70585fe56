"""Everything that is wrong with a topology file, collected and told at once."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from testbed.errors import InputError


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, where it stands, and what would be right."""

    file: str  # or the option that gave the value; then line and column are 0
    line: int
    column: int
    message: str
    hint: str = ""

    def fields(self) -> dict[str, str | int]:
        """For JSON."""
        return asdict(self)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        text = f"{place}: {self.message}"
        return f"{text}; {self.hint}" if self.hint else text


class InvalidTopology(InputError):
    """A topology file with problems: `problems` has all of them, in file order."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = sorted(problems, key=lambda p: (p.line, p.column, p.message))
        first = self.problems[0]
        super().__init__(first.message, file=first.file, line=first.line, column=first.column)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


def unreadable(file: str | Path, error: OSError) -> InvalidTopology:
    """A file that cannot be read has no lines to point at."""
    missing = isinstance(error, FileNotFoundError)
    what = "there is no such file" if missing else f"cannot be read: {error.strerror or error}"
    return refuse(file, what, "" if missing else "give a readable file", 0, 0)


def refuse(file: str | Path, message: str, hint: str = "", line: int = 1, column: int = 1) -> InvalidTopology:
    """An error with a single problem."""
    return InvalidTopology([Problem(str(file), line, column, message, hint)])
