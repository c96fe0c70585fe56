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


def html_table(frame: pandas.DataFrame, caption: str, headings: Mapping[str, str]) -> str:
    """Columns in the order of `headings` (column -> text); others are left out."""
    columns = [c for c in headings if c in frame.columns]
    head = "".join(_heading(headings[c], is_numeric_dtype(frame[c])) for c in columns)
    rows = "".join(_row(values) for values in frame[columns].itertuples(index=False))
    box = (
        '<input type="search" placeholder="filter rows" aria-label="filter rows">'
        if len(frame) >= FILTER_FROM
        else ""
    )
    return (
        f'<div class="table">{box}<div class="scroll"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></div>"
    )


def _heading(text: str, numeric: bool) -> str:
    kind = ' class="n"' if numeric else ""
    return f'<th scope="col"{kind}><button type="button">{escape(text)}</button></th>'


@dataclass(frozen=True)
class Link:
    """A cell that leads somewhere."""

    text: str
    address: str


def _row(values: tuple[object, ...]) -> str:
    return "<tr>" + "".join(_cell(v) for v in values) + "</tr>"


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)) or value is pandas.NA:
        return '<td class="n">-</td>'
    if isinstance(value, Link):
        return f'<td><a href="{escape(value.address)}">{escape(value.text)}</a></td>'
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, Real):
        return f'<td class="n" data-v="{float(value)!r}">{figures(float(value))}</td>'
    return f"<td>{escape(str(value))}</td>"


def figures(value: float) -> str:
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.3f}" if abs(value) >= 1 else f"{value:.4g}"
