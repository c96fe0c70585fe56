"""Finds the experiment of a paper by its name: a package under `experiments/` with `reproduce`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from typing import Protocol, cast

from testbed.errors import InputError, did_you_mean
from testbed.figures.reproduction import Request
from testbed.figures.verdict import Verdict


class Experiment(Protocol):
    FIGURES: Sequence[str]

    def reproduce(self, request: Request) -> list[Verdict]: ...


def papers() -> list[str]:
    package = importlib.import_module("experiments")
    return sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(package.__path__) if m.ispkg)


def experiment(paper: str, figures: Sequence[str]) -> Experiment:
    """The paper's module; InputError names the known ones, for a paper as for a figure."""
    if paper not in papers():
        raise InputError(f"no experiment named {paper!r}", hint=did_you_mean(paper, papers()))
    found = cast(Experiment, importlib.import_module(f"experiments.{paper.replace('-', '_')}.reproduce"))
    for figure in figures:
        if figure not in found.FIGURES:
            raise InputError(f"{paper} has no figure {figure!r}", hint=did_you_mean(figure, found.FIGURES))
    return found
