"""A paper as declarations: points -> runs or computations -> measures -> tables -> figures -> verdicts.

A study has parts, each with a folder of its own results. A part says which points there are at a scale, how a
run is measured, and what is drawn and judged from the tables: its cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import pandas

from testbed.errors import InputError, did_you_mean
from testbed.reproduction.claim import Claim
from testbed.reproduction.collect import Found, Groups
from testbed.reproduction.figures.page import Page
from testbed.reproduction.figures.plot import Figure
from testbed.reproduction.measured import Measures
from testbed.reproduction.reading import Reading, check_readings
from testbed.reproduction.request import Request
from testbed.sweep.run import Effort

S = TypeVar("S")  # what a scale is to a paper


@dataclass(frozen=True)
class Scale(Generic[S]):
    """How much of the paper is done: its size, in the paper's own terms, seeds 1 to n, and where."""

    size: S
    seeds: int = 1
    engines: tuple[str, ...] = ()  # of runs, where none is asked for
    more_seeds: bool = True  # `--seeds` may ask for another number
    analysed: bool = False  # every run is analysed with Spark, and measured from its tables


@dataclass(frozen=True)
class Ask(Generic[S]):
    """A request, as it concerns one part."""

    request: Request
    scale: Scale[S]
    engines: tuple[str, ...]

    @property
    def size(self) -> S:
        return self.scale.size

    @property
    def engine(self) -> str:
        """Of the runs; a scale of a part with runs names one, for when nobody asks for another."""
        if not self.engines:
            raise InputError(
                "no engine is said for the runs", hint="--engine, or Scale(engines=...) in the paper"
            )
        return self.engines[0]

    @property
    def seeds(self) -> list[int]:
        wanted = self.request.seeds if self.scale.more_seeds else 0
        return list(range(1, (wanted or self.scale.seeds) + 1))


@dataclass(frozen=True)
class Case:
    """What is judged and drawn from the same data. `rests_on`: names of what failed, without which no claim
    can be judged."""

    claims: Sequence[Claim[Any]]
    data: Any
    provenance: str
    figures: Iterable[Figure | Page] = ()
    rests_on: tuple[str, ...] = ()
    tables: Mapping[str, pandas.DataFrame] = field(default_factory=dict)  # made from those of the points


@dataclass(frozen=True)
class Part(Generic[S]):
    scales: Mapping[str, Scale[S]]
    figures: tuple[str, ...]  # names that `--figure` takes for it
    points: Callable[[Ask[S]], Groups]
    cases: Callable[[Ask[S], Found], Sequence[Case]]
    measures: Measures | None = None  # a part with runs has some
    name: str = ""  # its folder is <scale>-<name>; empty = the paper's own
    by_default: bool = True  # done when no figure is named
    only_engine: str = ""  # the one that its runs can be made on
    shares_runs: bool = False  # some of its points are those of the part without a name
    tables: tuple[str, ...] = ()  # of the points, that are written; empty = all
    extra: Callable[[Ask[S]], dict[str, Any]] = lambda ask: {}  # of the manifest
    effort: Effort = field(default_factory=Effort)

    def wanted(self, request: Request) -> bool:
        return any(f in request.figures for f in self.figures) or (self.by_default and not request.figures)

    def figure_of(self, id_: str) -> str:
        """The name that `--figure` takes for a picture: fig5d-on-planetlab is one of 5d."""
        name = id_.removeprefix("fig")
        known = (f for f in self.figures if name == f or name.startswith(f"{f}-"))
        return max(known, key=len, default=name)


@dataclass(frozen=True)
class Study:
    name: str  # of `testbed reproduce NAME`
    citation: str
    parts: Sequence[Part[Any]]
    readings: Sequence[Reading] = ()
    claims: Sequence[Claim[Any]] = ()  # of all parts; that their readings are declared is checked

    def __post_init__(self) -> None:
        check_readings(self.readings, [(claim.id, claim.readings) for claim in self.claims])

    @property
    def figures(self) -> list[str]:
        return [figure for part in self.parts for figure in part.figures]

    def check_figures(self, figures: Iterable[str]) -> None:
        for figure in figures:
            if figure not in self.figures:
                raise InputError(
                    f"{self.name} has no figure {figure!r}", hint=did_you_mean(figure, self.figures)
                )
