"""Where the resolving steps put what is wrong, so that all of it is told at once."""

from __future__ import annotations

from collections.abc import Iterable

from testbed.errors import did_you_mean
from testbed.topology.file.document import Document, Path_
from testbed.topology.file.problems import InvalidTopology, Problem


class Report:
    """Collects problems at paths of the document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def add(self, path: Path_, message: str, hint: str = "", key: bool = False) -> None:
        problem = self.document.problem(path, message, hint, key)
        if problem not in self.problems:
            self.problems.append(problem)

    def unknown(self, path: Path_, what: str, name: str, known: Iterable[str]) -> None:
        """`name` is no `what`; suggests the nearest."""
        self.add(path, f"there is no {what} {name!r}", shortened(did_you_mean(name, known)))

    def raise_if_any(self) -> None:
        if self.problems:
            raise InvalidTopology(self.problems)


def shortened(hint: str, limit: int = 160) -> str:
    """A listing of hundreds of names helps nobody."""
    return hint if len(hint) <= limit else hint[: limit - 4].rsplit(",", 1)[0] + ", ..."
