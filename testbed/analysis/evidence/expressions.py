"""The experimenter's own checks: SQL expressions over the tables of the run.

    checks:
      quick enough: delay.p99_us < 200000
      no loss: (select count(*) from deliveries where outcome = 'missing') = 0

`table.column` alone stands for the table's main row (see MAIN).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from testbed.analysis.evidence.check_result import CheckResult

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from testbed.topology.plan import Check

MAIN = {
    "delay": "group_by = 'all'",
    "hops": "measure = 'overlay'",
    "overhead": "link = 'overlay' and class = 'all'",
    "fidelity": "source = 'all'",
}
_SHORT = re.compile(r"\b(" + "|".join(MAIN) + r")\.([a-z_0-9]+)\b")


def long_form(expression: str) -> str:
    """Every `table.column` of a table with a main row, as a query for that row."""
    return _SHORT.sub(lambda m: f"(select {m[2]} from {m[1]} where {MAIN[m[1]]})", expression)


def evaluate(spark: SparkSession, checks: list[Check], tables: dict[str, DataFrame]) -> list[CheckResult]:
    """One verdict per check; an expression that cannot be evaluated is unknown, with the reason."""
    for name, table in tables.items():
        table.createOrReplaceTempView(name)
    return [_evaluate(spark, check) for check in checks]


def _evaluate(spark: SparkSession, check: Check) -> CheckResult:
    try:
        value = spark.sql(f"select ({long_form(check.expression)}) as holds").collect()[0][0]
    except Exception as error:  # whatever the expression does wrong, the other checks go on
        return CheckResult(check.name, "unknown", f"{check.expression}: {_first_line(error)}")
    if value is None:
        return CheckResult(check.name, "unknown", f"{check.expression}: the tables have no such value")
    if not isinstance(value, bool):
        return CheckResult(check.name, "unknown", f"{check.expression}: is {value!r}, neither true nor false")
    return CheckResult(check.name, "pass" if value else "fail", check.expression)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:300] or type(error).__name__
