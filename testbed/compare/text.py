"""A difference as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator

from testbed.compare.results import Changed, ResultDiff
from testbed.compare.table_difference import ColumnDiff, TableDiff


def as_text(diff: ResultDiff) -> str:
    return "\n".join(_lines(diff))


def summary(diff: ResultDiff) -> str:
    differ = [t.table for t in diff.tables if not t.same]
    if diff.same:
        return f"same: {len(diff.tables)} tables, no difference"
    parts = [f"{len(differ)} of {len(diff.tables)} tables differ"] if differ else []
    parts += [f"{len(diff.verdicts)} verdicts changed"] if diff.verdicts else []
    alone = len(diff.only_a) + len(diff.only_b)
    parts += [f"{alone} tables are only in one"] if alone else []
    return "different: " + ", ".join(parts)


def _lines(diff: ResultDiff) -> Iterator[str]:
    yield f"A {diff.a}"
    yield f"B {diff.b}"
    for title, changed in (("made differently", diff.facts), ("verdicts", diff.verdicts)):
        if changed:
            yield f"{title}:"
            yield from (f"  {line(change)}" for change in changed)
    for side, names in (("A", diff.only_a), ("B", diff.only_b)):
        if names:
            yield f"tables only in {side}: {', '.join(names)}"
    for table in diff.tables:
        if not table.same:
            yield from _table(table)
    yield summary(diff)


def line(change: Changed) -> str:
    return f"{change.what}: {change.a} -> {change.b}"


def _table(table: TableDiff) -> Iterator[str]:
    yield f"{table.table}: {rows(table)}"
    for side, columns in (("A", table.columns_only_a), ("B", table.columns_only_b)):
        if columns:
            yield f"  columns only in {side}: {', '.join(columns)}"
    for column in table.columns:
        yield f"  {column.column}: {how_much(column)}"


def rows(table: TableDiff) -> str:
    alone = f", {table.only_a} only in A, {table.only_b} only in B" if table.only_a or table.only_b else ""
    return f"{table.rows_a} rows in A, {table.rows_b} in B{alone}"


def how_much(column: ColumnDiff) -> str:
    at = f" at {column.where}" if column.where else ""
    largest = f"{column.a} -> {column.b}{at}"
    if math.isnan(column.largest):
        return f"{column.rows} rows differ, such as {largest}"
    means = f"mean {column.mean_a:.6g} -> {column.mean_b:.6g}"
    return (
        f"{column.rows} rows differ, most {largest} ({column.largest:+.4g}, {column.relative:.2%}); {means}"
    )
