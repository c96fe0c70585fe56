"""Data frames as HTML tables that can be sorted, and filtered when they are long."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from numbers import Real

import pandas
from pandas.api.types import is_numeric_dtype

FILTER_FROM = 12  # rows
OUTCOMES = ("pass", "fail", "unknown")


def html_table(frame: pandas.DataFrame, caption: str, headings: Mapping[str, str]) -> str:
    """Columns in the order of `headings` (column -> text); others are left out, and so are empty ones."""
    columns = [c for c in headings if c in frame.columns and (frame[c].notna().any() or not len(frame))]
    head = "".join(_heading(headings[c], is_numeric_dtype(frame[c])) for c in columns)
    rows = "".join(_row(values) for values in frame[columns].itertuples(index=False))
    text = escape(caption)
    return (
        f'<div class="table">{_tools(text, len(frame))}<div class="scroll" tabindex="0" role="region" '
        f'aria-label="{text or "table"}"><table><caption>{text}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></div>"
    )


def _tools(caption: str, rows: int) -> str:
    if rows < FILTER_FROM:
        return f'<div class="tools"><b>{caption}</b></div>' if caption else ""
    label = f"filter rows: {caption}" if caption else "filter rows"
    return (
        f'<div class="tools"><b>{caption}</b><input type="search" placeholder="filter rows" '
        f'aria-label="{label}"><output class="soft">{rows} rows</output></div>'
    )


def _heading(text: str, numeric: bool) -> str:
    kind = ' class="n"' if numeric else ""
    return f'<th scope="col"{kind}><button type="button">{escape(text)}</button></th>'


@dataclass(frozen=True)
class Link:
    """A cell that leads somewhere."""

    text: str
    address: str


@dataclass(frozen=True)
class Outcome:
    """A cell with a verdict: pass, fail or unknown, or another word in the colour of one of them."""

    name: str
    text: str = ""


@dataclass(frozen=True)
class Prose:
    """A cell whose text may go over several lines."""

    text: str


def _row(values: tuple[object, ...]) -> str:
    return "<tr>" + "".join(_cell(v) for v in values) + "</tr>"


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)) or value is pandas.NA:
        return '<td class="n" data-missing>-</td>'
    if isinstance(value, Link):
        return f'<td><a href="{escape(value.address)}">{escape(value.text)}</a></td>'
    if isinstance(value, Outcome):
        kind = value.name if value.name in OUTCOMES else "unknown"
        return f'<td><span class="badge {kind}">{escape(value.text or value.name)}</span></td>'
    if isinstance(value, Prose):
        return f'<td class="wrap">{escape(value.text)}</td>'
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, Real):
        return f'<td class="n" data-v="{float(value)!r}">{figures(float(value))}</td>'
    return f"<td>{escape(str(value))}</td>"


def figures(value: float) -> str:
    """As many digits as a reader compares; the exact value is in the CSV beside it."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3f}" if abs(value) >= 1 else f"{value:.3g}"
