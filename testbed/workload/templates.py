"""Subscriptions to stock quotes drawn from templates by probability, as PANDA's topology generator does.

A template is a filter with {symbol} and other attributes of a quote, such as {high}, in place of values. The
symbol is that of a publisher, the other values those of one of the quotes that it will publish.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from broker_grpc.content.language import parse_filter
from broker_grpc.errors import BrokerError
from protos.content_messages import Value
from testbed.errors import InputError, did_you_mean
from testbed.topology.seeding import Draw
from testbed.workload import stock
from testbed.workload.subscriptions import CALIBRATION

_STOCK = f"[class,eq,'{stock.CLASS}']"
_SYMBOL = f"{_STOCK},[symbol,eq,'{{symbol}}']"
# The six of PADRES' etc/panda/generator.cfg.
PANDA: Mapping[str, float] = {
    f"{_SYMBOL},[high,>,{{high}}]": 0.10,
    f"{_SYMBOL},[low,<,{{low}}]": 0.10,
    f"{_SYMBOL},[volume,>,{{volume}}]": 0.20,
    _SYMBOL: 0.39,
    f"{_STOCK},[volume,>,{{volume}}]": 0.20,
    _STOCK: 0.01,
}
NOBODYS = "NONE"  # a symbol that nobody publishes
_PLACE = re.compile(r"\{([^{}]*)\}")
_ATTRIBUTE = re.compile(r"\[([^,\]]+),")


class Templates:
    """`publishers`: symbol and seed of each client that publishes quotes; `idle`: see `draw`. InputError."""

    def __init__(
        self, shares: Mapping[str, float], publishers: Sequence[tuple[str, int]], idle: float = 0.0
    ) -> None:
        self._shares = dict(shares)
        self._publishers = list(publishers)
        self._idle = idle
        self._of_symbols = {text: share for text, share in shares.items() if "{symbol}" in text}
        if abs(sum(shares.values()) - 1) > 1e-9:
            raise InputError(f"shares of templates must add up to 1, not {sum(shares.values()):g}")
        if idle and not any(self._of_symbols.values()):
            raise InputError("`idle` needs a template with {symbol}", hint="add one, or leave out `idle`")
        for text in shares:
            _check(text)

    def draw(self, draw: Draw) -> tuple[str, str]:
        """A filter, and the attributes it is about, as a label for tables.

        With the probability `idle` it asks for a symbol that nobody publishes.
        """
        idle = draw.unit() < self._idle
        template = _drawn(self._of_symbols if idle else self._shares, draw)
        symbol, seed = draw.choice(self._publishers)
        values = {**_quotes(symbol, seed)[draw.below(CALIBRATION)]}
        if idle:
            values["symbol"] = NOBODYS
        label = "+".join(name for name in _ATTRIBUTE.findall(template) if name != "class") or "all"
        return _filled(template, values), "idle" if idle else label


def _check(template: str) -> None:
    """Raises InputError unless the template becomes a filter with the values of a quote."""
    quote = next(stock.quotes("S", 0))
    for name in _PLACE.findall(template):
        if name not in quote:
            raise InputError(f"a quote has no {name!r}", hint=did_you_mean(name, quote))
    try:
        parse_filter(_filled(template, quote))
    except BrokerError as error:
        hint = "write it like [class,eq,'STOCK'],[symbol,eq,'{symbol}'],[high,>,{high}]"
        raise InputError(f"no filter: {error}", hint=hint) from None


def _filled(template: str, values: Mapping[str, Value]) -> str:
    return _PLACE.sub(lambda place: str(values[place[1]]), template)


def _drawn(shares: Mapping[str, float], draw: Draw) -> str:
    """By inversion, in the order given."""
    place = draw.unit() * sum(shares.values())
    for text, share in shares.items():
        place -= share
        if place < 0:
            return text
    return next(text for text in reversed(list(shares)) if shares[text])


@lru_cache(maxsize=512)
def _quotes(symbol: str, seed: int) -> list[dict[str, Value]]:
    return list(itertools.islice(stock.quotes(symbol, seed), CALIBRATION))
