"""The experimenter's own checks (`topology.check_expressions`), evaluated over the tables of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.analysis.evidence.check_result import CheckResult
from testbed.topology.check_expressions import long_form

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from testbed.topology.plan import Check


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
