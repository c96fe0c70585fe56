"""How whole the event logs are: torn last lines, bad lines in the middle, unknown kinds, silent processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from protos.records import LogEvent
from testbed.analysis.evidence.runs import Run
from testbed.analysis.sources.jsonl import file_name


@dataclass
class LogHealth:
    torn: list[str] = field(
        default_factory=list
    )  # files whose last line is cut, or cut by a crash and restart
    bad: list[str] = field(default_factory=list)  # file:line: what
    unknown_kinds: dict[str, int] = field(default_factory=dict)
    silent: list[str] = field(default_factory=list)  # brokers without a single event
    speaking: set[str] = field(default_factory=set)  # processes with one
    published: dict[str, int] = field(default_factory=dict)  # client -> publications that it handed over


def inventory(lines: DataFrame) -> DataFrame:
    """run, file, node, kind -> events, bad lines, first and last time, and the largest values."""
    given = (f.col("kind") == "DELIVERED") & (f.col("published_us") > 0)
    return lines.groupBy("run", "file", "node", "kind").agg(
        f.count("*").alias("events"),
        f.count("bad_line").alias("bad"),
        f.min(f.when(f.col("t_us") > 0, f.col("t_us"))).alias("first_us"),
        f.max("t_us").alias("last_us"),
        f.max(f.when(given, f.col("t_us") - f.col("published_us"))).alias("max_delay_us"),
        f.max("matching_us").alias("max_matching_us"),
        f.max("bytes").alias("max_bytes"),
        f.max("leg").alias("max_leg"),
    )


def health(run: Run, counted: pd.DataFrame) -> LogHealth:
    """`counted`: the run's part of `inventory`."""
    found = LogHealth()
    for name in sorted(set(counted.loc[counted["bad"] > 0, "file"])):
        _look_for_bad_lines(run.folder.events / file_name(name), found)
    good = counted[counted["bad"] == 0]
    for kind, events in good[~good["kind"].isin(run.kinds)].groupby("kind")["events"].sum().items():
        found.unknown_kinds[str(kind)] = int(events)
    found.speaking = set(good["node"])
    found.published = good[good["kind"] == "PUBLISHED"].groupby("node")["events"].sum().to_dict()
    found.silent = sorted(broker for broker in expected_brokers(run) if broker not in found.speaking)
    return found


def expected_brokers(run: Run) -> set[str]:
    """Brokers that some phase or event starts; all of them when the plan has no phases."""
    started = {process for phase in run.plan.phases for process in phase.start}
    started |= {event.target for event in run.plan.events if event.action in ("start", "join", "restart")}
    return run.brokers & started if run.plan.phases else run.brokers


def _look_for_bad_lines(path: Path, found: LogHealth) -> None:
    decoder = msgspec.json.Decoder(LogEvent)
    with path.open("rb") as file:
        previous: tuple[int, str] | None = None
        for number, line in enumerate(file, 1):
            problem = _problem(line, decoder)
            if previous is not None:
                _file_bad_line(path, previous, line, found)
            previous = (number, problem) if problem else None
        if previous is not None:
            found.torn.append(path.name)


def _problem(line: bytes, decoder: msgspec.json.Decoder[LogEvent]) -> str:
    if not line.strip():
        return ""
    try:
        decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return str(error)
    return ""


def _file_bad_line(path: Path, bad: tuple[int, str], following: bytes, found: LogHealth) -> None:
    """A restarted process ends the line its predecessor was torn from; that is no fault of the log."""
    if b'"kind":"STARTED"' in following:
        found.torn.append(f"{path.name}:{bad[0]} (before a restart)")
    else:
        found.bad.append(f"{path.name}:{bad[0]}: {bad[1]}")
