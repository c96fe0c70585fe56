"""A difference as a page, in the look of the reports."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import pandas

from testbed.compare.results import Changed, ResultDiff
from testbed.compare.table_difference import TableDiff
from testbed.compare.text import rows, summary
from testbed.report.html_table import Prose, html_table
from testbed.report.page_frame import Section, badge, frame, page

COLUMNS = {
    "column": "column", "rows": "rows that differ", "a": "A", "b": "B", "largest": "B - A",
    "percent": "%", "where": "where", "mean_a": "mean A", "mean_b": "mean B",
}  # fmt: skip


def diff_page(diff: ResultDiff) -> str:
    mark = badge("pass", "same") if diff.same else badge("fail", "different")
    intro = (
        f"<p>A: <code>{escape(str(diff.a))}</code><br>B: <code>{escape(str(diff.b))}</code></p>"
        f"<p>{mark} {escape(summary(diff).partition(': ')[2])}</p>"
        + "".join(_only(side, names) for side, names in (("A", diff.only_a), ("B", diff.only_b)))
    )
    sections = [
        Section("verdicts", "Verdicts", _changes(diff.verdicts)),
        *(Section(f"table-{t.table}", t.table, _table(t)) for t in diff.tables if not t.same),
        Section("same", "The same in both", _same(t.table for t in diff.tables if t.same)),
        Section("made", "Made differently", _changes(diff.facts)),
    ]
    title = f"Two {'runs' if diff.kind == 'run' else 'reproductions'}"
    return page("Difference", frame("Difference", title, intro, sections))


def _changes(changed: list[Changed]) -> str:
    if not changed:
        return ""
    listed = pandas.DataFrame([{"what": c.what, "a": Prose(c.a), "b": Prose(c.b)} for c in changed])
    return html_table(listed, "", {"what": "what", "a": "A", "b": "B"})


def _only(side: str, names: list[str]) -> str:
    return f"<p>Tables only in {side}: {escape(', '.join(names))}</p>" if names else ""


def _table(table: TableDiff) -> str:
    text = f"<p>{rows(table)}</p>"
    for side, columns in (("A", table.columns_only_a), ("B", table.columns_only_b)):
        text += f"<p>Columns only in {side}: {escape(', '.join(columns))}</p>" if columns else ""
    if not table.columns:
        return text
    found = pandas.DataFrame([{**c.__dict__, "percent": 100 * c.relative} for c in table.columns])
    return text + html_table(found, "A, B and B - A are those of the largest difference", COLUMNS)


def _same(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"<p>{escape(listed)}</p>" if listed else ""
