"""A difference as a page, in the look of the reports."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import pandas

from testbed.compare.results import Changed, ResultDiff
from testbed.compare.tables import TableDiff
from testbed.compare.text import rows, summary
from testbed.report.html_table import html_table
from testbed.report.page import badge, page

COLUMNS = {
    "column": "column", "rows": "rows that differ", "a": "A", "b": "B", "largest": "B - A",
    "percent": "%", "where": "where", "mean_a": "mean A", "mean_b": "mean B",
}  # fmt: skip


def diff_page(diff: ResultDiff) -> str:
    mark = badge("pass", "same") if diff.same else badge("fail", "different")
    parts = [
        f"<h1>Two {'runs' if diff.kind == 'run' else 'reproductions'}</h1>",
        f"<p>A: <code>{escape(str(diff.a))}</code><br>B: <code>{escape(str(diff.b))}</code></p>",
        f"<p>{mark} {escape(summary(diff).partition(': ')[2])}</p>",
        _changes("Verdicts", diff.verdicts),
        _changes("Made differently", diff.facts),
        *(_only(side, names) for side, names in (("A", diff.only_a), ("B", diff.only_b))),
        *(_table(table) for table in diff.tables if not table.same),
        _same(table.table for table in diff.tables if table.same),
    ]
    return page("Difference", "".join(parts))


def _changes(title: str, changed: list[Changed]) -> str:
    if not changed:
        return ""
    frame = pandas.DataFrame([{"what": c.what, "a": c.a, "b": c.b} for c in changed])
    return f"<h2>{title}</h2>" + html_table(frame, "", {"what": "what", "a": "A", "b": "B"})


def _only(side: str, names: list[str]) -> str:
    return f"<p>Tables only in {side}: {escape(', '.join(names))}</p>" if names else ""


def _table(table: TableDiff) -> str:
    text = f"<h2>{escape(table.table)}</h2><p>{rows(table)}</p>"
    for side, columns in (("A", table.columns_only_a), ("B", table.columns_only_b)):
        text += f"<p>Columns only in {side}: {escape(', '.join(columns))}</p>" if columns else ""
    if not table.columns:
        return text
    frame = pandas.DataFrame([{**c.__dict__, "percent": 100 * c.relative} for c in table.columns])
    return text + html_table(frame, "A, B and B - A are those of the largest difference", COLUMNS)


def _same(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"<h2>The same in both</h2><p>{escape(listed)}</p>" if listed else ""
