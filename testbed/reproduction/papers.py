"""Finds the study of a paper by its name: an entry point of the group `pubsub_testbed.papers`.

The project's own are declared in its pyproject.toml, as those of any other package are in its.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points

from testbed.errors import InputError, did_you_mean
from testbed.reproduction.study import Study

GROUP = "pubsub_testbed.papers"


def papers() -> list[str]:
    return sorted(_known())


def study_of(paper: str, figures: Sequence[str] = ()) -> Study:
    """InputError names the known ones, for a paper as for a figure."""
    known = _known()
    if paper not in known:
        hint = did_you_mean(paper, sorted(known)) if known else "`make python` installs the project's own"
        raise InputError(f"no experiment named {paper!r}", hint=hint)
    found: Study = known[paper].load()
    found.check_figures(figures)
    return found


def _known() -> dict[str, EntryPoint]:
    """Of two packages with the same name the one that is found first."""
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        found.setdefault(entry.name, entry)
    return found
