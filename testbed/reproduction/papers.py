"""Finds the study of a paper by its name: an entry point of the group `pubsub_testbed.papers`.

The project's own are declared in its pyproject.toml, as those of any other package are in its.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points

from testbed.errors import InputError, did_you_mean
from testbed.reproduction.mistakes import place_of, told_as_the_papers
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
    found = load(known[paper])
    found.check_figures(figures)
    return found


def load(entry: EntryPoint) -> Study:
    """Raises InputError for what an installed package does when it is imported, and for what is no study."""
    with told_as_the_papers(entry.name, "be imported"):
        try:
            found = entry.load()
        except (ImportError, AttributeError) as error:
            hint = f"the entry point {entry.value!r} leads to the STUDY of a module that can be imported"
            if place_of(error) != (None, None):
                raise
            raise InputError(f"the paper {entry.name!r} cannot be imported: {error}", hint=hint) from error
    if not isinstance(found, Study):
        message = f"the entry point {entry.value!r} of the paper {entry.name!r} leads to no Study"
        raise InputError(message, hint="module:STUDY, in docs/add-a-paper.md")
    return found


def _known() -> dict[str, EntryPoint]:
    """Of two packages with the same name the one that is found first."""
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        found.setdefault(entry.name, entry)
    return found
