"""What real brokers did: messages by purpose from log and wire, lost deliveries, clusters, how trees mend."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas

from testbed.reproduction.measured import Measures
from testbed.reproduction.rows import Rows
from testbed.run.folder import RunFolder

WITNESSES = ("log_messages", "log_bytes", "wire_messages", "wire_bytes")
KINDS = ("TREE_CHANGED", "FAULT_STARTED")


def repairs(records: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """`records` in the order of time. For each broker that is killed: the trees that it was a parent in, the
    children it had there, and how long these had no other parent."""
    parents: dict[tuple[str, str], str] = {}  # tree, broker -> parent
    open_: dict[tuple[str, str], tuple[str, int]] = {}  # cut off -> by whose death, when
    cut: dict[tuple[str, int], dict[tuple[str, str], int]] = {}
    for record in records:
        if record["kind"] == "FAULT_STARTED":
            if record["type"] == "kill":
                dead, at = str(record["detail"]).split()[0], int(record["t_us"])
                cut[dead, at] = {}
                open_ |= {place: (dead, at) for place, parent in parents.items() if parent == dead}
                parents = {place: parent for place, parent in parents.items() if place[1] != dead}
                open_ = {place: death for place, death in open_.items() if place[1] != dead}
            continue
        place, parent = (record["message"], record["node"]), record["peer"]
        parents[place] = parent
        said = json.loads(record["content"])
        if place not in open_ or parent == open_[place][0]:
            continue
        idle = not (parent or said["root"] or said["children"] or said["subscribed"])
        if parent or said["root"] or idle:
            dead, at = open_.pop(place)
            if not idle:
                cut[dead, at][place] = int(record["t_us"]) - at
    for (dead, at), mended in cut.items():
        times = sorted(mended.values())
        yield {
            "killed": dead, "trees": len({tree for tree, _ in mended}), "children": len(mended),
            "never": sum(death == (dead, at) for death in open_.values()),
            "mean_ms": sum(times) / len(times) / 1e3 if times else None,
            "last_ms": times[-1] / 1e3 if times else None,
        }  # fmt: skip


def rows_of(analysis: Any, run: RunFolder, records: Sequence[dict[str, Any]]) -> Rows:
    frames = {
        name: frame[frame.run == run.path.name]
        for name in ("overhead", "purposes", "clusters", "losses", "trees")
        if (frame := analysis.frame(name)) is not None
    }
    checks = {v.name: v.verdict for v in analysis.verdicts[run.path.name]}
    return {
        "witnessed": list(witnessed(frames["overhead"])),
        "course": list(course(frames["purposes"])),
        "outcomes": [outcome(frames["losses"], checks)],
        "operations": list(operations(frames["clusters"])),
        "repairs": list(repairs(records)),
    }


def witnessed(overhead: pandas.DataFrame) -> Iterator[dict[str, Any]]:
    """Between brokers, over the whole run."""
    own = overhead[(overhead.link == "overlay") & (overhead.purpose != "all")]
    for purpose, rows in own.groupby("purpose"):
        yield {"purpose": purpose, **{name: float(rows[name].sum(min_count=1)) for name in WITNESSES}}


def course(purposes: pandas.DataFrame) -> Iterator[dict[str, Any]]:
    """Of all brokers: what they sent to each other in each window."""
    own = purposes[purposes.link == "overlay"]
    for (window, purpose), rows in own.groupby(["window_s", "purpose"]):
        yield {
            "window_s": int(window), "purpose": purpose,
            "messages": int(rows.messages.sum()), "bytes": int(rows.bytes.sum()),
        }  # fmt: skip


def outcome(losses: pandas.DataFrame, checks: dict[str, str]) -> dict[str, Any]:
    pairs = losses.groupby("outcome").pairs.sum()
    settled = losses[losses.settled].groupby("outcome").pairs.sum()
    return {
        **{name: int(pairs.get(name, 0)) for name in ("delivered", "missing", "duplicate", "phantom")},
        "settled_missing": int(settled.get("missing", 0)),
        "failed_checks": ", ".join(sorted(name for name, verdict in checks.items() if verdict == "fail")),
    }


def operations(clusters: pandas.DataFrame) -> Iterator[dict[str, Any]]:
    for operation, rows in clusters.groupby("operation"):
        yield {"operation": operation, "times": len(rows)}


def from_tables(runs: Sequence[RunFolder], master: str, say: Callable[[str], None]) -> list[Rows]:
    from testbed.analysis.spark.interruptible import interruptibly

    return interruptibly(lambda: _from_tables(runs, master, say))


def _from_tables(runs: Sequence[RunFolder], master: str, say: Callable[[str], None]) -> list[Rows]:
    from testbed.analysis import analyze, read_records
    from testbed.analysis.spark.session import start

    spark = start(master)
    try:
        analysis = analyze(list(runs), spark=spark, progress=say, write=False)
        told = read_records(spark, "events", [run.path for run in runs])
        told = told.where(told["kind"].isin(*KINDS))
        columns = ("run", "kind", "t_us", "n", "node", "type", "peer", "message", "detail", "content")
        found = told.select(*columns).toArrow().to_pandas().sort_values(["t_us", "n"], kind="stable")
    finally:
        spark.stop()
    return [rows_of(analysis, run, found[found.run == run.path.name].to_dict("records")) for run in runs]


def _of(run: RunFolder) -> Rows:
    return from_tables([run], "local[1]", lambda said: None)[0]


MEASURES = Measures(_of, (__name__,), from_tables)
