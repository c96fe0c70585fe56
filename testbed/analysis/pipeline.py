"""From run folders to tables and verdicts: one Spark session, one pass over captures, one over logs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from testbed.analysis.catalogue import ORDER, PROVENANCE, TABLES
from testbed.analysis.runs import Run, load_runs
from testbed.analysis.verdicts import Verdict, write_verdicts
from testbed.analysis.write import write_table
from testbed.runfolder import RunFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Progress = Callable[[str], None]
COLLECT_ROWS = 2_000_000  # more deliveries than this stay in Spark: written by its tasks, not by the driver


@dataclass
class Analysis:
    """All tables of all runs, each row with its provenance, and the verdicts by run."""

    runs: list[Run]
    tables: dict[str, pa.Table]
    verdicts: dict[str, list[Verdict]]
    seconds: dict[str, float] = field(default_factory=dict)

    def frame(self, name: str, run: str | None = None) -> pd.DataFrame:
        """A table as pandas, of one run or of all."""
        frame = self.table(name).to_pandas()
        return frame if run is None else frame[frame["run"] == run].reset_index(drop=True)

    def table(self, name: str) -> pa.Table:
        if name in self.tables:
            return self.tables[name]
        files = [run.folder.tables / f"{name}.parquet" for run in self.runs]
        return pa.concat_tables([pq.read_table(file) for file in files])

    @property
    def failed(self) -> list[tuple[str, Verdict]]:
        return [(run, v) for run, verdicts in self.verdicts.items() for v in verdicts if v.failed]


def analyze(
    runs: Iterable[str | Path | RunFolder],
    master: str = "local[*]",
    spark: SparkSession | None = None,
    *,
    progress: Progress | None = None,
    write: bool = True,
) -> Analysis:
    """Make the tables and verdicts of the run folders and (unless told not to) write them into each folder.

    Raises InputError for what is no run folder, NoJava and TestbedError when Spark cannot start.
    """
    say = progress or (lambda text: None)
    loaded = load_runs(runs)
    begun = time.monotonic()
    if spark is None:
        from testbed.analysis.session import start

        say("starting Spark")
        spark = start(master, input_bytes(loaded))
    started = time.monotonic()
    work = _Work(spark, loaded, say)
    analysis = work.run(write)
    analysis.seconds = {"spark_start": started - begun, "tables": time.monotonic() - started}
    return analysis


def input_bytes(runs: list[Run]) -> int:
    folders = [folder for run in runs for folder in (run.folder.events, run.folder.pcap) if folder.is_dir()]
    return sum(entry.stat().st_size for folder in folders for entry in os.scandir(folder))


def collected(frame: DataFrame) -> pd.DataFrame:
    return frame.toArrow().to_pandas()


class _Work:
    """One analysis under way. Independent queries run side by side: most of their time is planning."""

    def __init__(self, spark: SparkSession, runs: list[Run], say: Progress) -> None:
        self.spark, self.runs, self.say = spark, runs, say
        self.brokers = {run.key: run.brokers for run in runs}
        self.partitions = int(str(spark.conf.get("spark.sql.shuffle.partitions", "4")))

    def run(self, write: bool) -> Analysis:
        with ThreadPoolExecutor(6) as pool:
            facts = pool.submit(self._facts)
            self.say("reading events")
            self._read_events(pool)
            self.say("following publications")
            frames = self._frames(pool, facts)
        self.say("checking")
        tables = {name: self._with_provenance(name, frame) for name, frame in frames.items()}
        verdicts = {run.key: self._verdicts(run, frames, tables) for run in self.runs}
        analysis = Analysis(self.runs, tables, verdicts)
        if write:
            self.say("writing")
            self._write(analysis)
        for cached in (self.lines, self.pairs):
            cached.unpersist()
        return analysis

    # ---- sources

    def _facts(self) -> pd.DataFrame:
        from testbed.analysis.sources.pcap import read_facts
        from testbed.analysis.wire.witness import FACT_SCHEMA

        captures = [capture for run in self.runs for capture in run.captures]
        if not captures:
            return FACT_SCHEMA.empty_table().to_pandas()
        return collected(read_facts(self.spark, captures))

    def _read_events(self, pool: ThreadPoolExecutor) -> None:
        """The logs, cached, and what the driver must know of them before the publications are followed."""
        from testbed.analysis.logs import health, inventory
        from testbed.analysis.sources.jsonl import LOG_EVENT, read_jsonl
        from testbed.analysis.timeline import RARE, timeline

        files = {run.key: run.files(run.folder.events) for run in self.runs}
        self.lines = read_jsonl(self.spark, LOG_EVENT, files).persist()
        self.events = self.lines.where("bad_line is null")
        counted = collected(inventory(self.lines))
        rare = collected(self.events.where(self.events["kind"].isin(*RARE)))
        rare = rare.sort_values(["t_us", "n"], kind="stable")
        self.rare = {run.key: rare[rare["run"] == run.key].to_dict("records") for run in self.runs}
        self.timelines, self.health = {}, {}
        for run in self.runs:
            own = counted[counted["run"] == run.key]
            self.health[run.key] = health(run, own)
            longest = own["max_delay_us"].max()
            self.timelines[run.key] = timeline(
                run, self.rare[run.key], 0 if pd.isna(longest) else int(longest)
            )
        kinds = counted[counted["bad"] == 0].groupby(["run", "kind"])["events"].sum()
        self.delivered = {run.key: int(kinds.get((run.key, "DELIVERED"), 0)) for run in self.runs}

    def _follow(self) -> DataFrame:
        from pyspark.sql.pandas.types import from_arrow_schema

        from testbed.analysis.journeys import INPUT, KINDS, SCHEMA, World, journeys

        worlds = {}
        for run in self.runs:
            routes = run.routes
            hosts = {process: routes.index[node] for process, node in run.hosts.items()}
            worlds[run.key] = World(hosts, routes.latency_us, routes.links, self.timelines[run.key])
        chosen = self.events.where(self.events["kind"].isin(*KINDS)).select(*INPUT)
        together = chosen.repartition(self.partitions, "run", "message")
        return together.mapInArrow(partial(journeys, worlds), from_arrow_schema(SCHEMA))

    # ---- tables

    def _frames(self, pool: ThreadPoolExecutor, facts: Future[pd.DataFrame]) -> dict[str, pd.DataFrame]:
        from testbed.analysis.sources.jsonl import PORT_COUNTER, PROBE_RESULT, read_jsonl
        from testbed.analysis.tables.delay import delay
        from testbed.analysis.tables.deliveries import deliveries, losses
        from testbed.analysis.tables.fidelity import fidelity
        from testbed.analysis.tables.hops import hop_distribution, hops, with_share
        from testbed.analysis.tables.load import load
        from testbed.analysis.tables.overhead import log_counts

        rows = sum(self.delivered.values())
        probes = read_jsonl(self.spark, PROBE_RESULT, {r.key: r.files(r.folder.probes) for r in self.runs})
        ports = {r.key: r.files(r.folder.controller, "ports.jsonl") for r in self.runs}
        early = {
            "log": pool.submit(lambda: collected(log_counts(self.events))),
            "load": pool.submit(
                lambda: collected(load(self.events, {k: sorted(v) for k, v in self.brokers.items()}))
            ),
            "fidelity": pool.submit(lambda: collected(fidelity(probes.where("bad_line is null")))),
            "counters": pool.submit(lambda: collected(read_jsonl(self.spark, PORT_COUNTER, ports))),
        }
        self.pairs = self._follow().persist()
        futures = {
            "losses": pool.submit(lambda: collected(losses(self.pairs))),
            "delay": pool.submit(lambda: collected(delay(self.pairs, rows))),
            "hop_distribution": pool.submit(lambda: collected(with_share(hop_distribution(self.pairs)))),
            "hops": pool.submit(lambda: collected(hops(hop_distribution(self.pairs)))),
        }
        self.large = rows > COLLECT_ROWS
        if not self.large:
            futures["deliveries"] = pool.submit(lambda: collected(deliveries(self.pairs)))
        made = {name: future.result() for name, future in {**futures, **early}.items()}
        self.facts = facts.result()
        log, counters = made.pop("log"), made.pop("counters")
        return {**made, **self._wire_frames(log, counters)}

    def _wire_frames(self, log: pd.DataFrame, counters: pd.DataFrame) -> dict[str, pd.DataFrame]:
        from testbed.analysis.tables.links import links
        from testbed.analysis.tables.overhead import link_messages, overhead
        from testbed.analysis.tables.wire import identify, wire, wire_counts

        calls = identify(self.facts, self.runs)
        counts = wire_counts(self.facts, calls)
        directions = wire(self.facts, calls, self.runs)
        whole = directions[directions["state"] == "whole"][["run", "source", "target"]].drop_duplicates()
        captured = self._captured(log, whole)
        return {
            "wire": directions,
            "link_messages": link_messages(log, counts, whole, self.brokers),
            "overhead": overhead(log, counts, self.delivered, self.brokers, captured),
            "links": links(self.facts, counters, self.runs),
        }

    def _captured(self, log: pd.DataFrame, whole: pd.DataFrame) -> dict[str, set[str]]:
        """Kinds of link whose every direction with logged messages the captures show whole."""
        seen = set(whole.itertuples(index=False, name=None))
        missing: dict[str, set[str]] = {run.key: set() for run in self.runs}
        present: dict[str, set[str]] = {run.key: set() for run in self.runs}
        for run, sender, receiver in log[["run", "sender", "receiver"]].itertuples(index=False, name=None):
            link = "overlay" if receiver in self.brokers[run] else "client"
            (present if (run, sender, receiver) in seen else missing)[run].add(link)
        return {key: present[key] - missing[key] for key in present}

    # ---- output

    def _with_provenance(self, name: str, frame: pd.DataFrame) -> pa.Table:
        about = pd.DataFrame([run.provenance for run in self.runs])
        keys = ORDER[name]
        if keys:
            frame = frame.sort_values(["run", *keys], ignore_index=True)
        joined = frame.merge(about, on="run", how="left")[[*PROVENANCE, *TABLES[name]]]
        return pa.Table.from_pandas(joined, preserve_index=False).replace_schema_metadata()

    def _verdicts(
        self, run: Run, frames: dict[str, pd.DataFrame], tables: dict[str, pa.Table]
    ) -> list[Verdict]:
        import pyarrow.compute as pc

        from testbed.analysis.checks import Evidence, standard
        from testbed.analysis.expressions import evaluate
        from testbed.analysis.interests import FOREVER, Interests

        own = {name: frame[frame["run"] == run.key] for name, frame in frames.items()}
        damage = self.facts[(self.facts["fact"] == "damage") & (self.facts["run"] == run.key)]
        interests = self.timelines[run.key].interests
        evidence = Evidence(
            run,
            self.health[run.key],
            self.rare[run.key],
            own["losses"],
            own["link_messages"],
            own["wire"],
            damage,
            own["fidelity"],
            any(interest.settled_us < FOREVER for interest in interests),
            Interests(interests).unreadable,
        )
        mine = {name: table.filter(pc.equal(table["run"], run.key)) for name, table in tables.items()}
        return [*standard(evidence), *evaluate(self.spark, run.plan.checks, mine)]

    def _write(self, analysis: Analysis) -> None:
        for run in self.runs:
            for name, table in analysis.tables.items():
                write_table(run, name, table)
            if self.large:
                self._write_large(run)
            write_verdicts(run.folder.verdicts, analysis.verdicts[run.key])

    def _write_large(self, run: Run) -> None:
        from pyspark.sql import functions as f

        from testbed.analysis.tables.deliveries import deliveries

        frame = deliveries(self.pairs).where(f.col("run") == run.key)
        for column, value in run.provenance.items():
            frame = frame.withColumn(column, f.lit(value))
        ordered = frame.select(*PROVENANCE, *TABLES["deliveries"]).orderBy(*ORDER["deliveries"])
        ordered.write.mode("overwrite").parquet(str(run.folder.tables / "deliveries.parquet"))


def summary(analysis: Analysis) -> dict[str, Any]:
    """For programs: verdict counts and times."""
    verdicts = [v.verdict for listed in analysis.verdicts.values() for v in listed]
    return {
        "runs": len(analysis.runs),
        "verdicts": {v: verdicts.count(v) for v in sorted(set(verdicts))},
        **analysis.seconds,
    }
