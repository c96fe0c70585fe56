"""The experimenter's own checks: what an expression means, and whether the tables have what it names.

    checks:
      quick enough: delay.p99_us < 200000
      no loss: (select count(*) from deliveries where outcome = 'missing') = 0

`table.column` alone stands for the table's main row (see MAIN). `table_columns.json` names the columns of all
tables; `python -m testbed.analysis.tables.docs` writes it: describing an experiment needs no Spark.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from testbed.errors import did_you_mean

MAIN = {
    "delay": "group_by = 'all'",
    "hops": "measure = 'overlay'",
    "overhead": "link = 'overlay' and class = 'all'",
    "fidelity": "source = 'all'",
}
COLUMNS = Path(__file__).with_name("table_columns.json")
_SHORT = re.compile(r"\b(" + "|".join(MAIN) + r")\.([a-z_0-9]+)\b")
_UNRESOLVED = re.compile(r"(?:Column '|Unknown column: )(\w+)")


def long_form(expression: str) -> str:
    """Every `table.column` of a table with a main row, as a query for that row."""
    return _SHORT.sub(lambda m: f"(select {m[2]} from {m[1]} where {MAIN[m[1]]})", expression)


@cache
def table_columns() -> dict[str, list[str]]:
    columns: dict[str, list[str]] = json.loads(COLUMNS.read_text(encoding="utf-8"))
    return columns


def mistake_in(expression: str) -> tuple[str, str] | None:
    """What is wrong with a check and what would be right, as far as it can be told without a run."""
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.qualify import qualify

    known = table_columns()
    try:
        query = parse_one(f"select ({long_form(expression)}) as holds", dialect="spark")
        named = [table.name for table in query.find_all(exp.Table)]
        defined = {with_.alias for with_ in query.find_all(exp.CTE)}
        for name in named:
            if name not in known and name not in defined:
                return f"there is no table {name!r}", did_you_mean(name, known)
        qualify(
            query, schema={name: dict.fromkeys(own, "string") for name, own in known.items()}, dialect="spark"
        )
    except SqlglotError as error:
        found = _UNRESOLVED.search(str(error))
        if found is None:
            return f"{expression!r} is no expression over the tables", "write SQL, like delay.p99_us < 200000"
        return _no_column(found[1], [name for name in dict.fromkeys(named) if name in known])
    return None


def _no_column(column: str, tables: list[str]) -> tuple[str, str]:
    if not tables:
        return f"{column!r} names no table", "write it like delay.p99_us, or (select ... from deliveries)"
    known = {name for table in tables for name in table_columns()[table]}
    which = " or ".join(f"`{table}`" for table in tables)
    return f"{which} has no column {column!r}", did_you_mean(column, known)
