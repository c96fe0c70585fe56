"""What faults cost: expected deliveries against those that came, by fault, subscriber class and cause, and
how long it took until everything arrived again."""

from __future__ import annotations

import pandas as pd
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from testbed.analysis.evidence.absences import FOREVER
from testbed.analysis.evidence.fault_course import CAUSES, NONE, Fault, FaultCourse

COLUMNS = {
    "fault": "action and object, `none` for what was under way in no fault's window, or `all`",
    "started_s": "start of the fault, s after the run's first event; null for none and all",
    "ended_s": "when the overlay was whole and all clients were back, s after the first event; null = never",
    "group": "subscriber class, or all",
    "cause": "all, or why deliveries were lost or late: "
    + "; ".join(f"{name} ({text})" for name, text in CAUSES.items()),
    "expected": "(publication, subscriber) pairs: a subscription that was known everywhere matches; "
    "of the row of a cause, its pairs lost or late",
    "delivered": "of these, delivered until the run's end",
    "lost": "of these, never delivered",
    "late": "delivered, after more than twice the longest delay in which no fault had a part (at least 1 s)",
    "doubled": "delivered more than once",
    "delivery_ratio": "delivered / expected",
}
RECOVERY_COLUMNS = {
    "fault": "action and object",
    "started_s": "start of the fault, s after the run's first event",
    "overlay_s": "from then until the harness saw the overlay whole, s; null = never",
    "clients_s": "until the last client that had lost its broker was back, s; null = never, or none had",
    "recovery_s": "until the first publication from which on everything arrived, up to the next fault, s; "
    "0 = nothing was lost; null = not until then",
    "on_time_s": "the same, and nothing was late",
    "expected": "pairs under way from the fault's start to the next fault",
    "lost": "of these, never delivered",
    "late": "of these, delivered late",
    "recovered": "yes; no; or untouched, when nothing was lost or late",
}
Courses = dict[str, FaultCourse]
SUMS = ["expected", "delivered", "lost", "late", "doubled"]


def counted(pairs: DataFrame) -> DataFrame:
    """Run, fault, class and cause -> SUMS."""
    return (
        pairs.where("expected")
        .groupBy("run", "fault", "group", "cause")
        .agg(
            f.count("*").alias("expected"),
            f.count(f.when(f.col("copies") > 0, 1)).alias("delivered"),
            f.count(f.when(f.col("copies") == 0, 1)).alias("lost"),
            f.count(f.when(f.col("late"), 1)).alias("late"),
            f.count(f.when(f.col("copies") > 1, 1)).alias("doubled"),
        )
    )


def fault_losses(counts: pd.DataFrame, courses: Courses, first_us: dict[str, int]) -> pd.DataFrame:
    """`counts`: of `counted`."""
    named = counts.assign(group=counts["group"].fillna(""))
    every = named.assign(fault=NONE - 1, group="all", cause="all")
    by_fault = named.assign(group="all", cause="all")
    by_class = named.assign(cause="all")
    whole = [every, by_fault, *([] if named["group"].nunique() < 2 else [by_class])]
    causes = named[named["cause"] != ""]
    parts = [*whole, causes.assign(group="all"), *([causes] if len(whole) == 3 else [])]
    keys = ["run", "fault", "group", "cause"]
    sums = pd.concat(parts).groupby(keys, as_index=False)[SUMS].sum()
    times = [
        _times(courses[run], number, first_us[run])
        for run, number in zip(sums["run"], sums["fault"], strict=True)
    ]
    about = pd.DataFrame(times, columns=["fault", "started_s", "ended_s"], index=sums.index)
    made = sums.rename(columns={"fault": "number"}).join(
        about.astype({"started_s": "float64", "ended_s": "float64"})
    )
    made["delivery_ratio"] = made["delivered"] / made["expected"]
    order = made.assign(
        place=made["number"].mask(made["number"] == NONE, FOREVER),
        first=made["group"] != "all",
        second=made["cause"] != "all",
    ).sort_values(["run", "place", "first", "group", "second", "cause"], ignore_index=True)
    return order[["run", *COLUMNS]]


def _times(course: FaultCourse, number: int, first_us: int) -> tuple[str, float | None, float | None]:
    if number < 0:
        return ("none" if number == NONE else "all"), None, None
    fault = course.faults[number]
    return fault.name, (fault.start_us - first_us) / 1e6, _seconds(fault.end_us, first_us)


def _seconds(at_us: int, since_us: int) -> float | None:
    return None if at_us >= FOREVER else (at_us - since_us) / 1e6


def regained(pairs: DataFrame) -> DataFrame:
    """Run and latest fault begun -> pairs, lost, late, and the first publication after the last lost one
    (after the last that was lost or late)."""
    begun = pairs.where("expected and begun >= 0")
    own = Window.partitionBy("run", "begun")
    gone, held = f.col("copies") == 0, (f.col("copies") == 0) | f.col("late")
    at = f.col("published_us")
    marked = begun.select(
        "run", "begun", "published_us", "copies", "late",
        f.max(f.when(gone, at)).over(own).alias("last_lost"),
        f.max(f.when(held, at)).over(own).alias("last_held"),
    )  # fmt: skip
    return marked.groupBy("run", "begun").agg(
        f.count("*").alias("expected"),
        f.count(f.when(gone, 1)).alias("lost"),
        f.count(f.when(f.col("late"), 1)).alias("late"),
        f.min(f.when(at > f.col("last_lost"), at)).alias("arriving_us"),
        f.min(f.when(at > f.col("last_held"), at)).alias("on_time_us"),
    )


def recoveries(found: pd.DataFrame, courses: Courses, first_us: dict[str, int]) -> pd.DataFrame:
    """`found`: of `regained`. One row per fault, also where nothing was under way."""
    known = {(row.run, row.begun): row for row in found.itertuples()}
    rows = [
        (run, *_recovery(fault, known.get((run, number)), first_us[run]))
        for run, course in courses.items()
        for number, fault in enumerate(course.faults)
    ]
    types = dict.fromkeys(("started_s", "overlay_s", "clients_s", "recovery_s", "on_time_s"), "float64")
    types |= dict.fromkeys(("expected", "lost", "late"), "int64") | dict.fromkeys(
        ("fault", "recovered"), "string"
    )
    return pd.DataFrame(rows, columns=["run", *RECOVERY_COLUMNS]).astype(types)


def _recovery(fault: Fault, found: object, first_us: int) -> tuple[object, ...]:
    expected, lost, late = (int(getattr(found, name, 0)) for name in ("expected", "lost", "late"))
    arriving = _after(fault, getattr(found, "arriving_us", None), lost)
    on_time = _after(fault, getattr(found, "on_time_us", None), lost + late)
    said = "untouched" if not lost + late else "no" if arriving is None else "yes"
    back = _seconds(fault.clients_us, fault.start_us) if fault.clients_us else None
    return (
        fault.name, (fault.start_us - first_us) / 1e6, _seconds(fault.whole_us, fault.start_us), back,
        arriving, on_time, expected, lost, late, said,
    )  # fmt: skip


def _after(fault: Fault, at_us: int | None, harmed: int) -> float | None:
    if not harmed:
        return 0.0
    return None if at_us is None or pd.isna(at_us) else max(0, int(at_us) - fault.start_us) / 1e6
