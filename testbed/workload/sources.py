"""Sources of publications by name: what `publish: {source: ...}` in a topology file may say.

A source is made from its parameters and a seed, and yields one dictionary of attributes per publication.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from broker_grpc.content.language import parse_publication
from broker_grpc.errors import BrokerError
from protos.content_messages import Value
from testbed.errors import InputError, did_you_mean
from testbed.topology.plan import PublicationPlan
from testbed.topology.seeding import Draw
from testbed.workload import stock, topics

Attributes = dict[str, Value]
Source = Callable[[Mapping[str, Any], int], Iterator[Attributes]]


def stock_source(parameters: Mapping[str, Any], seed: int) -> Iterator[Attributes]:
    """Quotes of `symbol`, one day per publication."""
    return stock.quotes(str(parameters["symbol"]), seed)


def topic_source(parameters: Mapping[str, Any], seed: int) -> Iterator[Attributes]:
    """Always `topic`, or one of `topics` topics drawn by a popularity `law` with its own parameters."""
    if "topic" in parameters:
        name = str(parameters["topic"])
        return ({"class": name, "number": number} for number in itertools.count())
    rest = {key: value for key, value in parameters.items() if key not in ("topics", "law")}
    shares = topics.weights(str(parameters.get("law", "uniform")), int(parameters["topics"]), **rest)
    popularity, draw = topics.Popularity(shares), Draw(seed, "topics")
    return ({"class": topics.topic_name(popularity.draw(draw)), "number": n} for n in itertools.count())


def fixed_source(parameters: Mapping[str, Any], seed: int) -> Iterator[Attributes]:
    """The same `content` (PADRES text form) with a running number."""
    content = _parsed(str(parameters["content"]), "content")
    return ({**content, "number": number} for number in itertools.count())


def trace_source(parameters: Mapping[str, Any], seed: int) -> Iterator[Attributes]:
    """The lines of `file` in PADRES text form, from the start again after the last."""
    path = Path(str(parameters["file"]))
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"cannot read the trace: {error.strerror}", file=path) from None
    rows = [_parsed(line, str(path), n) for n, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise InputError("the trace is empty", file=path)
    return (dict(row) for row in itertools.cycle(rows))


def _parsed(text: str, place: str, line: int | None = None) -> Attributes:
    try:
        return parse_publication(text)
    except BrokerError as error:
        raise InputError(str(error), file=place, line=line) from None


SOURCES: dict[str, Source] = {
    "stock": stock_source,
    "topic": topic_source,
    "fixed": fixed_source,
    "trace": trace_source,
}


def publications(plan: PublicationPlan, seed: int) -> Iterator[Attributes]:
    """The sequence of a client with this plan and seed. InputError for what the source does not accept."""
    if plan.source not in SOURCES:
        raise InputError(f"no source is called {plan.source!r}", hint=did_you_mean(plan.source, SOURCES))
    try:
        return SOURCES[plan.source](plan.parameters, seed)
    except KeyError as missing:
        raise InputError(f"source {plan.source!r} needs the parameter {missing}") from None


def advertisements(plan: PublicationPlan, seed: int = 0) -> list[str]:
    """Filters that cover all that the source will publish, for clients that give none themselves."""
    first = next(publications(plan, seed))
    if plan.source == "stock":
        return [stock.advertisement(str(plan.parameters["symbol"]))]
    if plan.source == "topic" and "topic" not in plan.parameters:
        return [topics.topic_filter(topics.topic_name(n)) for n in range(int(plan.parameters["topics"]))]
    if plan.source == "trace":
        return _classes_of(plan)
    return [topics.topic_filter(str(first["class"]))]


def _classes_of(plan: PublicationPlan) -> list[str]:
    path = Path(str(plan.parameters["file"]))
    rows = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [
        topics.topic_filter(name) for name in sorted({str(_parsed(row, str(path))["class"]) for row in rows})
    ]
