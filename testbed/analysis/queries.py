"""All queries of an analysis: sources, tables, checks. It imports all that is heavy, while the JVM starts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from protos.records import FlowCounter, PortCounter, ProbeResult
from testbed.analysis.evidence import journeys
from testbed.analysis.evidence.absences import FOREVER
from testbed.analysis.evidence.check_result import CheckResult, write_check_results
from testbed.analysis.evidence.checks import Evidence, standard
from testbed.analysis.evidence.expressions import evaluate
from testbed.analysis.evidence.flight import Motion, by_second, is_long, motion_of, with_seconds
from testbed.analysis.evidence.interests import Interests
from testbed.analysis.evidence.log_health import health, inventory
from testbed.analysis.evidence.runs import Run
from testbed.analysis.evidence.times import RARE, timeline
from testbed.analysis.result import Analysis
from testbed.analysis.sources.driver_records import read_on_driver
from testbed.analysis.sources.jsonl import LOG_EVENT, read_jsonl
from testbed.analysis.sources.pcap import read_facts
from testbed.analysis.tables import clusters, large_deliveries, rings, trees
from testbed.analysis.tables.catalogue import ORDER, PROVENANCE, TABLES
from testbed.analysis.tables.costs import PRICED, SUMS, costs, paid_by_type
from testbed.analysis.tables.counted import BROKERS, seen_over_peers, summed_over_peers
from testbed.analysis.tables.delay import delay
from testbed.analysis.tables.deliveries import deliveries, losses
from testbed.analysis.tables.exchanges import exchanges
from testbed.analysis.tables.fault_losses import counted, fault_losses, recoveries, regained
from testbed.analysis.tables.fidelity import fidelity
from testbed.analysis.tables.hops import hop_distribution, hops, with_share
from testbed.analysis.tables.links import links
from testbed.analysis.tables.load import load
from testbed.analysis.tables.overhead import link_messages, log_counts, overhead
from testbed.analysis.tables.purposes import purposes, sent_by_type
from testbed.analysis.tables.reconfigurations import places, reconfigurations
from testbed.analysis.tables.wire import identify, wire, wire_counts
from testbed.analysis.tables.write import write_table
from testbed.analysis.wire.witness import FACT_SCHEMA

# Integers stay integers when some are missing, so a column has the same type in every run's files.
PANDAS_TYPES = {pa.int32(): pd.Int64Dtype(), pa.int64(): pd.Int64Dtype()}


def collected(frame: DataFrame) -> pd.DataFrame:
    return frame.toArrow().to_pandas(types_mapper=PANDAS_TYPES.get)


def collected_from(query: Callable[[], DataFrame]) -> pd.DataFrame:
    """Plan and run a query; planning is worth a thread of its own."""
    return collected(query())


NOTHING_PAID = pd.DataFrame(columns=["run", "window_s", "type", "leg", *SUMS])
PLACED = (*trees.KINDS, clusters.KIND, rings.KIND)


def _first(counted: pd.DataFrame, run: str, kind: str | None = None) -> int:
    """Time of the run's first event (of a kind), us; 0 = there is none."""
    own = counted[(counted["run"] == run) & (counted["bad"] == 0)]
    earliest = (own if kind is None else own[own["kind"] == kind])["first_us"].min()
    return 0 if pd.isna(earliest) else int(earliest)


class Queries:
    """One analysis under way. Independent queries run side by side: most of their time is planning."""

    def __init__(
        self, spark: SparkSession, runs: list[Run], say: Callable[[str], None], collect_rows: int
    ) -> None:
        self.spark, self.runs, self.say, self.collect_rows = spark, runs, say, collect_rows
        self.brokers = {run.key: run.brokers for run in runs}
        self.counted = {run.key: run.counted for run in runs}
        self.partitions = int(str(spark.conf.get("spark.sql.shuffle.partitions", "4")))

    def run(self, write: bool) -> Analysis:
        with ThreadPoolExecutor(6) as pool:
            facts = pool.submit(self._facts)
            self.say("reading events")
            self._read_events()
            self.say("following publications")
            frames = self._frames(pool, facts)
        self.say("checking")
        tables = {name: self._with_provenance(name, frame) for name, frame in frames.items()}
        verdicts = {run.key: self._checked(run, frames, tables) for run in self.runs}
        analysis = Analysis(self.runs, tables, verdicts)
        if write:
            self.say("writing")
            self._write(analysis)
        for cached in (self.lines, self.pairs):
            cached.unpersist()
        return analysis

    # ---- sources

    def _facts(self) -> pd.DataFrame:
        captures = [capture for run in self.runs for capture in run.captures]
        if not captures:
            return FACT_SCHEMA.empty_table().to_pandas()
        return collected(read_facts(self.spark, captures))

    def _read_events(self) -> None:
        """The logs, cached, and what the driver must know of them before the publications are followed."""
        files = {run.key: run.files(run.folder.events) for run in self.runs}
        self.lines = read_jsonl(self.spark, LOG_EVENT, files).persist()
        self.events = self.lines.where("bad_line is null")
        counted = collected(inventory(self.lines))
        rare = collected(self.events.where(self.events["kind"].isin(*RARE)))
        rare = rare.sort_values(["t_us", "n"], kind="stable")
        self.rare = {run.key: rare[rare["run"] == run.key].to_dict("records") for run in self.runs}
        self.timelines, self.health = {}, {}
        motions = self._motions(counted)
        for run in self.runs:
            self.health[run.key] = health(run, counted[counted["run"] == run.key])
            self.timelines[run.key] = timeline(run, self.rare[run.key], motions[run.key])
        kinds = counted[counted["bad"] == 0].groupby(["run", "kind"])["events"].sum()
        self.placed = bool(set(counted["kind"]) & set(PLACED))
        self.priced = sorted(set(counted.loc[counted["kind"] == PRICED, "run"]))
        self.rooted = set(counted.loc[counted["max_leg"] > 0, "run"])
        self.first_us = {run.key: _first(counted, run.key) for run in self.runs}
        self.first_publication_us = {run.key: _first(counted, run.key, "PUBLISHED") for run in self.runs}
        self.delivered = {run.key: int(kinds.get((run.key, "DELIVERED"), 0)) for run in self.runs}

    def _motions(self, counted: pd.DataFrame) -> dict[str, Motion]:
        """Which publications took long is asked only of runs in which some did."""
        motions = {run.key: motion_of(counted[counted["run"] == run.key]) for run in self.runs}
        slow = [key for key, motion in motions.items() if is_long(motion.longest_us)]
        if slow:
            seconds = collected(by_second(self.events.where(self.events["run"].isin(*slow))))
            motions |= {key: with_seconds(motions[key], seconds[seconds["run"] == key]) for key in slow}
        return motions

    def _follow(self) -> DataFrame:
        worlds = {}
        for run in self.runs:
            routes = run.routes
            hosts = {process: routes.index[node] for process, node in run.hosts.items()}
            worlds[run.key] = journeys.World(
                hosts,
                routes.latency_us,
                routes.links,
                self.timelines[run.key],
                whole="publication" not in run.counted,
                rooted=run.key in self.rooted,
            )
        chosen = self.events.where(self.events["kind"].isin(*journeys.KINDS)).select(*journeys.INPUT)
        together = chosen.repartition(self.partitions, "run", "message")
        return together.mapInArrow(partial(journeys.journeys, worlds), from_arrow_schema(journeys.SCHEMA))

    # ---- tables

    def _frames(self, pool: ThreadPoolExecutor, facts: Future[pd.DataFrame]) -> dict[str, pd.DataFrame]:
        rows = sum(self.delivered.values())
        ended = {key: timeline.ended_us for key, timeline in self.timelines.items()}
        ids = {key: sorted(brokers) for key, brokers in self.brokers.items()}
        self.pairs = self._follow().persist()
        queries: dict[str, Callable[[], DataFrame]] = {
            "losses": lambda: losses(self.pairs),
            "fault_losses": lambda: counted(self.pairs),
            "recoveries": lambda: regained(self.pairs),
            "delay": lambda: delay(self.pairs, rows, self.first_publication_us),
            "hop_distribution": lambda: hop_distribution(self.pairs),
            "log": lambda: log_counts(self.events, ended, self.counted),
            "load": lambda: load(self.events, ids, self.first_us),
            "purposes": lambda: sent_by_type(self.events, ids, self.first_us, ended, self.counted),
        }
        if self.placed:
            queries["placed"] = lambda: self.events.where(self.events["kind"].isin(*PLACED))
        if self.priced:
            queries["costs"] = lambda: self._paid(ids, ended)
        self.large = rows > self.collect_rows
        if not self.large:
            queries = {"deliveries": lambda: deliveries(self.pairs), **queries}
        waiting = {name: pool.submit(collected_from, query) for name, query in queries.items()}
        measured = self._fidelity()
        made = {name: future.result() for name, future in waiting.items()}
        made["hops"] = hops(made["hop_distribution"])
        made["hop_distribution"] = with_share(made["hop_distribution"])
        courses = {key: timeline.course for key, timeline in self.timelines.items()}
        made["fault_losses"] = fault_losses(made["fault_losses"], courses, self.first_us)
        made["recoveries"] = recoveries(made["recoveries"], courses, self.first_us)
        made["purposes"] = purposes(made["purposes"], {run.key: run.purposes for run in self.runs})
        made["costs"] = costs(made.get("costs", NOTHING_PAID), {run.key: run.purposes for run in self.runs})
        made |= self._trees(made.pop("placed", pd.DataFrame(columns=["run", "kind"])))
        self.facts = facts.result()
        log = made.pop("log")
        counters = (self._counters(PortCounter, "ports.jsonl"), self._counters(FlowCounter, "flows.jsonl"))
        return {
            **made,
            "exchanges": self._exchanges(),
            **self._reconfigurations(),
            "fidelity": measured,
            "links": links(self.facts, *counters, self.runs),
            **self._wire_frames(log),
        }

    def _paid(self, brokers: dict[str, list[str]], ended: dict[str, int]) -> DataFrame:
        """Of the runs whose brokers tell what they pay."""
        own = self.events.where(self.events["run"].isin(*self.priced))
        return paid_by_type(own, {run: brokers[run] for run in self.priced}, self.first_us, ended)

    def _trees(self, told: pd.DataFrame) -> dict[str, pd.DataFrame]:
        """What brokers and clients said of trees, handovers, clusters and rings."""
        names = ("trees", "tree_edges", "handovers", "clusters", "ring_changes")
        frames: dict[str, list[pd.DataFrame]] = {name: [] for name in names}
        for run in self.runs:
            rows = told[told["run"] == run.key]
            told_of = [rows[rows["kind"] == kind].to_dict("records") for kind in PLACED]
            of_trees, moves, grouped, of_rings = told_of
            ends = trees.ends_of(self.rare[run.key], run.brokers)
            first, ended = self.first_us[run.key], self.timelines[run.key].ended_us
            shapes, edges = trees.trees(of_trees, ends, first, ended)
            made = {"trees": shapes, "tree_edges": edges, "handovers": trees.handovers(moves, first)}
            made["clusters"] = clusters.clusters(grouped, first)
            made["ring_changes"] = rings.ring_changes(of_rings, first, ended)
            for name, frame in made.items():
                frames[name].append(frame.assign(run=run.key))
        return {name: pd.concat(listed, ignore_index=True) for name, listed in frames.items()}

    def _exchanges(self) -> pd.DataFrame:
        of_runs = [exchanges(self.rare[run.key], self.first_us[run.key], run.key) for run in self.runs]
        return pd.concat(of_runs, ignore_index=True)

    def _reconfigurations(self) -> dict[str, pd.DataFrame]:
        told = [(self.rare[run.key], run.key) for run in self.runs]
        plans = [reconfigurations(rows, self.first_us[key], key) for rows, key in told]
        seats = [places(rows, key) for rows, key in told]
        whole = partial(pd.concat, ignore_index=True)
        return {"reconfigurations": whole(plans), "places": whole(seats)}

    def _fidelity(self) -> pd.DataFrame:
        return fidelity(read_on_driver(ProbeResult, {r.key: r.files(r.folder.probes) for r in self.runs}))

    def _counters(self, kind: type[msgspec.Struct], file: str) -> pd.DataFrame:
        """What the controller read from the switches."""
        return read_on_driver(kind, {r.key: r.files(r.folder.controller, file) for r in self.runs})

    def _wire_frames(self, log: pd.DataFrame) -> dict[str, pd.DataFrame]:
        calls = identify(self.facts, self.runs)
        counts = wire_counts(self.facts, calls, self.counted)
        log, counts = (summed_over_peers(rows, self.counted, self.brokers) for rows in (log, counts))
        directions = wire(self.facts, calls, self.runs)
        whole = seen_over_peers(directions, self.brokers)
        captured = self._captured(log, whole)
        known = {run.key: run.purposes for run in self.runs}
        return {
            "wire": directions,
            "link_messages": link_messages(log, counts, whole, self.brokers),
            "overhead": overhead(log, counts, self.delivered, self.brokers, captured, known),
        }

    def _captured(self, log: pd.DataFrame, whole: pd.DataFrame) -> dict[str, set[str]]:
        """Kinds of link whose every direction with logged messages the captures show whole."""
        seen = set(whole.itertuples(index=False, name=None))
        missing: dict[str, set[str]] = {run.key: set() for run in self.runs}
        present: dict[str, set[str]] = {run.key: set() for run in self.runs}
        for run, sender, receiver in log[["run", "sender", "receiver"]].itertuples(index=False, name=None):
            link = "overlay" if receiver == BROKERS or receiver in self.brokers[run] else "client"
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

    def _checked(
        self, run: Run, frames: dict[str, pd.DataFrame], tables: dict[str, pa.Table]
    ) -> list[CheckResult]:
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
            self.timelines[run.key].course.absences,
            any(interest.settled_us < FOREVER for interest in interests),
            Interests(interests).unreadable,
        )
        return [*standard(evidence), *self._own_checks(run, tables)]

    def _own_checks(self, run: Run, tables: dict[str, pa.Table]) -> list[CheckResult]:
        """Of the experimenter, over the run's tables."""
        if not run.plan.checks:
            return []
        own = {name: table.filter(pc.equal(table["run"], run.key)) for name, table in tables.items()}
        views = {name: self.spark.createDataFrame(table) for name, table in own.items()}
        if self.large:
            views["deliveries"] = large_deliveries.of_run(self.pairs, run)
        return evaluate(self.spark, run.plan.checks, views)

    def _write(self, analysis: Analysis) -> None:
        for run in self.runs:
            for name, table in analysis.tables.items():
                write_table(run, name, table)
            if self.large:
                rows = self.delivered[run.key]
                own = large_deliveries.of_run(self.pairs, run)
                large_deliveries.write_deliveries(run, own, rows, self.collect_rows, collected)
            write_check_results(run.folder.verdicts, analysis.verdicts[run.key])
