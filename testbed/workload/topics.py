"""Topic popularity: uniform, Zipf, exponential and multimodal, and who is interested in what.

A topic is a publication class, and interest in it one equality predicate: [class,eq,'t17'].
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from testbed.errors import InputError, did_you_mean
from testbed.topology.seeding import Draw

Weights = list[float]


def uniform(topics: int) -> Weights:
    return [1.0] * topics


def zipf(topics: int, exponent: float = 1.0) -> Weights:
    """Popularity of the k-th topic is k to the power -exponent."""
    return [(rank + 1) ** -exponent for rank in range(topics)]


def exponential(topics: int, rate: float = 5.0) -> Weights:
    """Falls by the factor e to the -rate from the first topic to the last."""
    return [math.exp(-rate * rank / topics) for rank in range(topics)]


def multimodal(topics: int, modes: int = 3, width: float = 0.05) -> Weights:
    """Equally high bell-shaped hills, spread evenly; `width` is their deviation / number of topics."""
    sigma = max(width * topics, 0.5)
    centres = [(mode + 0.5) * topics / modes for mode in range(modes)]
    return [
        max(math.exp(-(((topic + 0.5 - centre) / sigma) ** 2) / 2) for centre in centres)
        for topic in range(topics)
    ]


LAWS: dict[str, Callable[..., Weights]] = {
    "uniform": uniform,
    "zipf": zipf,
    "exponential": exponential,
    "multimodal": multimodal,
}


def weights(law: str, topics: int, **parameters: Any) -> Weights:
    """Raises InputError, which names what is known."""
    if law not in LAWS:
        raise InputError(f"no law of topic popularity is called {law!r}", hint=did_you_mean(law, LAWS))
    if topics < 1:
        raise InputError("there must be at least one topic")
    try:
        return LAWS[law](topics, **parameters)
    except TypeError as error:
        raise InputError(f"topic law {law!r}: {error}") from None


class Popularity:
    """Draws topic numbers by weight."""

    def __init__(self, shares: Sequence[float]) -> None:
        self._cumulated = list(itertools.accumulate(shares))

    def draw(self, draw: Draw) -> int:
        return bisect.bisect_right(self._cumulated, draw.unit() * self._cumulated[-1])


def topic_name(number: int) -> str:
    return f"t{number}"


def topic_filter(topic: str) -> str:
    return f"[class,eq,'{topic}']"


def interests(clients: int, per_client: int, shares: Sequence[float], draw: Draw) -> list[list[int]]:
    """Distinct topics of each client, drawn by popularity, ascending."""
    if per_client > len(shares):
        raise InputError(f"a client cannot have {per_client} of {len(shares)} topics")
    return [sorted(_distinct(per_client, shares, draw)) for _ in range(clients)]


def _distinct(count: int, shares: Sequence[float], draw: Draw) -> list[int]:
    """Weighted, without replacement: the `count` smallest of exponentials with these rates."""
    keys = [(draw.exponential(1.0) / share, topic) for topic, share in enumerate(shares) if share > 0]
    return [topic for _, topic in sorted(keys)[:count]]
