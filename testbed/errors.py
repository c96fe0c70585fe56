"""The harness's one error root.

Every failure a user can cause or repair is a `TestbedError`. It carries its fields, so the command line can
print one or two lines (what, where, how to fix it) and a program can read them.
"""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Iterable
from pathlib import Path


class TestbedError(Exception):
    """Something the user should be told in a sentence. `hint` says what to do about it."""

    __test__ = False  # the name starts with "Test"; pytest must not collect it
    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.hint = hint

    @property
    def place(self) -> str | None:
        """`file:line:column` as far as known; None when the error has no file."""
        if self.file is None:
            return None
        known = [str(part) for part in (self.line, self.column) if part is not None]
        return ":".join([str(self.file), *known])

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class InputError(TestbedError):
    """Wrong use or a bad input file: exit code 2."""

    exit_code = 2


class RunFailed(TestbedError):
    """A run or a check did not succeed: exit code 1."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: the nearest known one when there is one, and always all of them."""
    names = sorted(set(known))
    near = difflib.get_close_matches(word, names, n=1)
    listing = "known: " + ", ".join(names) if names else "none are known"
    return f"did you mean {near[0]!r}? ({listing})" if near else listing


def explain(error: Exception) -> str:
    """One sentence for people; what only a programmer understands is in the runner's log."""
    if isinstance(error, TestbedError):
        return f"{error} (fix: {error.hint})" if error.hint else str(error)
    if isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        return f"{error.strerror}{where}"
    traceback.print_exception(error)
    return f"{type(error).__name__}: {error}"
