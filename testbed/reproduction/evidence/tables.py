"""The evidence of runs from Spark's tables: what `testbed analyze` makes of them, one session for all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import pandas

from testbed.errors import RunFailed
from testbed.reproduction.evidence.evidence import DELIVERED, LOAD, WINDOW_US, Evidence, Mark
from testbed.run.folder import RunFolder

SECONDS = WINDOW_US // 1_000_000


def evidences(
    runs: Sequence[RunFolder], kinds: Collection[str], master: str, say: Callable[[str], None]
) -> list[Evidence]:
    """In the order of the runs. A run whose logs and wire do not agree is not measured: it is an error."""
    from testbed.analysis.spark.interruptible import interruptibly

    return interruptibly(lambda: _evidences(runs, kinds, master, say))


def _evidences(
    runs: Sequence[RunFolder], kinds: Collection[str], master: str, say: Callable[[str], None]
) -> list[Evidence]:
    from testbed.analysis import analyze, read_records
    from testbed.analysis.spark.session import start

    spark = start(master)
    try:
        analysis = analyze(list(runs), spark=spark, progress=say, write=False)
        bad = [f"{run}: {v.name}: {v.reason}" for run, v in analysis.failed]
        if bad:
            raise RunFailed("the analysis of the runs found " + "; ".join(bad))
        wanted = read_records(spark, "events", [run.path for run in runs])
        wanted = wanted.where(wanted["kind"].isin("PUBLISHED", *kinds))
        columns = ["run", *Mark.__struct_fields__]
        rare = wanted.select(*columns).toArrow().to_pandas()
        first = read_records(spark, "events", [run.path for run in runs]).groupBy("run").agg({"t_us": "min"})
        origins = dict(first.toArrow().to_pandas().itertuples(index=False, name=None))
    finally:
        spark.stop()
    frames = {name: analysis.frame(name) for name in ("deliveries", "load", "overhead", "losses")}
    return [
        _evidence(
            run, {n: frame[frame.run == run.path.name] for n, frame in frames.items()},
            rare[rare.run == run.path.name], int(origins[run.path.name]),
        )
        for run in runs
    ]  # fmt: skip


def _evidence(
    run: RunFolder, tables: dict[str, pandas.DataFrame], rare: pandas.DataFrame, origin_us: int
) -> Evidence:
    published = rare[rare.kind == "PUBLISHED"].t_us
    marks = rare[rare.kind != "PUBLISHED"][list(Mark.__struct_fields__)]
    losses = tables["losses"].groupby("outcome").pairs.sum()
    messages = tables["overhead"]
    messages = messages[(messages.link == "overlay") & (messages.type != "all")]
    return Evidence(
        len(run.read_plan().brokers), origin_us, int(published.min()), int(published.max()),
        delivered(tables["deliveries"]), load(tables["load"]),
        {type_: int(n) for type_, n in zip(messages.type, messages.log_messages, strict=True) if n},
        int(losses.get("missing", 0)), int(losses.get("duplicate", 0)),
        sorted(Mark(**row) for row in marks.to_dict("records")),
    )  # fmt: skip


def delivered(deliveries: pandas.DataFrame) -> pandas.DataFrame:
    names = {"overlay_hops": "hops", "subscriber": "client"}
    rows = deliveries[deliveries.copies > 0].rename(columns=names)
    return rows[DELIVERED].astype({name: "int64" for name in DELIVERED if name != "client"})


def load(table: pandas.DataFrame) -> pandas.DataFrame:
    """The table's rates as numbers of messages."""
    names = {"input_utilisation": "input", "output_utilisation": "output", "memory_bytes": "memory"}
    rows = table.rename(columns=names)
    counts = {
        "received": (rows.received_per_s * SECONDS).round().astype("int64"),
        "publications": (rows.publications_per_s * SECONDS).round().astype("int64"),
    }
    # A broker that only sent in a window has a row of its own there; it received nothing.
    rows = rows.assign(**counts)
    return rows[(rows.received > 0) | rows.input.notna()][LOAD].reset_index(drop=True)
