"""A figure in words and numbers: what a reader gets who cannot see it, and the page's table of it.

A series of few points is given whole; of a long one, or of a cloud, its ends, extremes and mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from testbed.reproduction.figures.plot import Figure, Series, Stated

WHOLE_UP_TO = 24  # points


def description(figure: Figure) -> dict[str, Any]:
    return {
        "id": figure.id,
        "title": figure.title,
        "x": figure.x_label,
        "y": figure.y_label,
        "text": in_words(figure),
        "series": [_series(series) for series in figure.series],
        "stated": [_value(s) for s in figure.stated],
        "provenance": figure.provenance,
    }


def in_words(figure: Figure) -> str:
    """One sentence per series, one for what the paper states."""
    ours = [_sentence(series) for series in figure.series]
    stated = ", ".join(_stated(value) for value in figure.stated)
    said = [f"The paper states: {stated}."] if stated else []
    return " ".join([f"{figure.y_label} over {figure.x_label}.", *ours, *said])


def _series(series: Series) -> dict[str, Any]:
    if series.style != "points" and len(series.x) <= WHOLE_UP_TO:
        columns = [series.x, series.y, *([series.low, series.high] if len(series.low) else [])]
        return {
            "label": series.label,
            "points": [[short(v) for v in row] for row in zip(*columns, strict=True)],
        }
    values = _known(series.y)
    if not values:
        return {"label": series.label, "n": 0}
    mean = math.fsum(values) / len(values)
    numbers = {"min": min(values), "mean": mean, "max": max(values)}
    ends = {} if series.style == "points" else {"first": values[0], "last": values[-1]}
    return {"label": series.label, "n": len(values)} | {k: short(v) for k, v in (ends | numbers).items()}


def _sentence(series: Series) -> str:
    values = _known(series.y)
    if not values:
        return f"{series.label}: no values."
    if series.style == "points":
        mean = math.fsum(values) / len(values)
        spread = f"from {min(values):.3g} to {max(values):.3g}, mean {mean:.3g}"
        return f"{series.label}: {len(values)} points {spread}."
    way = f"from {values[0]:.3g} at {series.x[0]:g} to {values[-1]:.3g} at {series.x[-1]:g}"
    low, high = min(values), max(values)
    beyond = low < min(values[0], values[-1]) or high > max(values[0], values[-1])
    return f"{series.label}: {way}" + (f" (between {low:.3g} and {high:.3g})." if beyond else ".")


def _value(stated: Stated) -> dict[str, Any]:
    return {"label": stated.label, "x": None if stated.x is None else short(stated.x), "y": short(stated.y)}


def _stated(value: Stated) -> str:
    return value.label if value.x is None else f"{value.label} at {value.x:g}"


def _known(values: Sequence[float]) -> list[float]:
    return [float(v) for v in values if not math.isnan(v)]


def short(value: float) -> float | None:
    """Six significant digits; None (null) for what is not a number."""
    return float(f"{float(value):.6g}") if math.isfinite(value) else None
