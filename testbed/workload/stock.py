"""Stock quotes like those of the POP/GRAPE report's workload (section 5.1), synthesised.

The report published daily quotes of about a hundred symbols. Here they are drawn from the measured
distributions of such data: trading range, move from open to close, shares of days that close at their low
or high, volumes, fat-tailed daily returns. Four attributes are derived as in the report's example:
openClose%Diff, highLow%Diff, closeEqualsLow, closeEqualsHigh.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator

from protos.content_messages import Value
from testbed.topology.seeding import Draw
from testbed.workload.quantiles import Quantiles, mix

CLASS = "STOCK"

# (high - low) / low over all symbols and days. The points below the last one are measured; the end is ours.
_RANGE_POINTS = [
    (0, 0), (0.10, 0), (0.25, 0.023), (0.50, 0.047), (0.75, 0.081), (0.90, 0.131), (0.95, 0.175),
    (0.99, 0.315), (1, 0.60),
]  # fmt: skip
RANGE = Quantiles(_RANGE_POINTS)
# ln(volume): measured at 50, 75, 90 and 99 %; zero on the lowest 5 % of days.
LOG_VOLUME = Quantiles(
    [(0, 0), (0.05, 4.6), (0.25, 8.6), (0.50, 10.97), (0.75, 13.91), (0.90, 15.86), (0.99, 17.86), (1, 19.5)]
)
NO_TRADE = 0.05
CLOSE_AT_EXTREME = 0.41  # of the moves up (down) end at the high (low): 29 % of all days with the still ones
UNMOVED = 0.135  # of the days with a range, open = close
MOVE_SHAPE = 0.72  # share of the range between open and close: uniform to this power
GAP_SCALE = 0.017  # Laplace, from close to the next open
SYMBOL_SHARE_OF_RANGE = 0.35  # how much symbols differ in what they typically do
SYMBOL_SHARE_OF_VOLUME = 0.77
PULL = 0.01  # back to the symbol's price level, so that long runs stay in cents and not in fractions of them
FIRST_DAY = datetime.date(1996, 9, 3)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Symbol:
    """What is particular to one symbol."""

    def __init__(self, name: str, seed: int) -> None:
        draw = Draw(seed, "stock symbol", name)
        self.name = name
        self.liveliness = draw.normal()
        self.liquidity = draw.normal()
        self.level = 20.0 * math.exp(0.7 * draw.normal())


def quotes(name: str, seed: int) -> Iterator[dict[str, Value]]:
    """The endless sequence of a symbol's quotes, the same for the same seed."""
    symbol = Symbol(name, seed)
    draw = Draw(seed, "stock quotes", name)
    close, day = symbol.level, FIRST_DAY
    while True:
        opened = close * math.exp(_gap(draw) - PULL * math.log(close / symbol.level))
        volume = _volume(symbol, draw)
        spread = _range(symbol, draw, volume)
        opened, high, low, close = _prices(draw, opened, spread)
        yield _quote(name, day, opened, high, low, close, volume)
        close = max(close, 1.0)
        day = _next_weekday(day)


def _gap(draw: Draw) -> float:
    u = draw.unit() - 0.5
    return -GAP_SCALE * math.copysign(math.log(max(1 - 2 * abs(u), 1e-12)), u)


def _volume(symbol: Symbol, draw: Draw) -> int:
    u = mix(symbol.liquidity, draw.normal(), SYMBOL_SHARE_OF_VOLUME)
    return 0 if u < NO_TRADE else 100 * max(1, round(math.exp(LOG_VOLUME.at(u)) / 100))


def _range(symbol: Symbol, draw: Draw, volume: int) -> float:
    """Without a trade there is no range; the other days share the rest of the distribution."""
    u = mix(symbol.liveliness, draw.normal(), SYMBOL_SHARE_OF_RANGE)
    return RANGE.at(NO_TRADE + (1 - NO_TRADE) * u) if volume else 0.0


def _prices(draw: Draw, opened: float, spread: float) -> tuple[float, float, float, float]:
    """Open, high, low, close in cents. The range is relative to the low."""
    up, at_extreme = draw.unit() < 0.5, draw.unit() < CLOSE_AT_EXTREME
    moved = 0.0 if draw.unit() < UNMOVED else draw.unit() ** MOVE_SHAPE
    slack = 0.0 if at_extreme else draw.unit() * (1 - moved)
    position = 1 - moved - slack if up else moved + slack  # of the open within the range, 0 = low
    low = opened / (1 + spread * position)
    high = low * (1 + spread)
    close = low + (high - low) * (position + moved if up else position - moved)
    return round(opened, 2), round(high, 2), round(low, 2), round(close, 2)


def _quote(
    name: str, day: datetime.date, opened: float, high: float, low: float, close: float, volume: int
) -> dict[str, Value]:
    return {
        "class": CLASS,
        "symbol": name,
        "open": opened,
        "high": high,
        "low": low,
        "close": close,
        "volume": volume,
        "date": f"{day.day}-{MONTHS[day.month - 1]}-{day.year % 100:02}",
        "openClose%Diff": round(abs(close - opened) / opened, 4),
        "highLow%Diff": round((high - low) / low, 4),
        "closeEqualsLow": "true" if close == low else "false",
        "closeEqualsHigh": "true" if close == high else "false",
    }


def _next_weekday(day: datetime.date) -> datetime.date:
    return day + datetime.timedelta(days=3 if day.weekday() == 4 else 1)


def advertisement(name: str) -> str:
    """What a publisher of one symbol announces: its symbol, and that the other attributes are present."""
    numbers = ("open", "high", "low", "close", "volume", "openClose%Diff", "highLow%Diff")
    texts = ("date", "closeEqualsLow", "closeEqualsHigh")
    parts = [f"[class,eq,'{CLASS}']", f"[symbol,eq,'{name}']"]
    parts += [f"[{number},isPresent,0]" for number in numbers]
    parts += [f"[{text},isPresent,'']" for text in texts]
    return ",".join(parts)
