"""The whole pipeline on made-up runs, each with one thing wrong: one Spark start and one call for all."""

from __future__ import annotations

import json
import shutil
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pyarrow.parquet as pq
import pytest

from protos.records import LogEvent
from testbed.analysis.sample import run_folder as sample
from testbed.topology.plan import Check

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from testbed.analysis.result import Analysis

pytestmark = [pytest.mark.spark, pytest.mark.slow]
Lines = list[bytes]
BROKERS, PUBLICATIONS = 4, 20


def edited(path: Path, name: str, edit: Callable[[Lines], Lines]) -> None:
    """Rewrite one log of a run; every line but a torn last one ends in a newline."""
    file = path / "events" / f"{name}.jsonl"
    file.write_bytes(b"".join(edit(file.read_bytes().splitlines(keepends=True))))


def manifest(path: Path, **changes: object) -> None:
    file = path / "manifest.json"
    file.write_bytes(json.dumps(json.loads(file.read_bytes()) | changes).encode())


def without_first(kind: str) -> Callable[[Lines], Lines]:
    def edit(lines: Lines) -> Lines:
        at = next(i for i, line in enumerate(lines) if f'"{kind}"'.encode() in line)
        return lines[:at] + lines[at + 1 :]

    return edit


def with_event(**fields: object) -> Callable[[Lines], Lines]:
    return lambda lines: [*lines, json.dumps(fields).encode() + b"\n"]


def doubled(kind: str) -> Callable[[Lines], Lines]:
    return lambda lines: [*lines, next(line for line in lines if f'"{kind}"'.encode() in line)]


def delivered(message: str, delay_us: int) -> dict[str, object]:
    at = sample.EPOCH_US + 10_000_000
    return {"t_us": at + delay_us, "n": 999, "node": "c2", "kind": "DELIVERED", "message": message,
            "published_us": at, "group": "low"}  # fmt: skip


def published_later(lines: Lines) -> Lines:
    events = [json.loads(line) for line in lines]
    for event in events:
        if "published_us" in event:
            event["published_us"] += 1_000_000
    return [json.dumps(event).encode() + b"\n" for event in events]


def later(seconds: int, message: str = "") -> Callable[[Lines], Lines]:
    """Deliveries (of one publication, or all) come that much later."""

    def edit(lines: Lines) -> Lines:
        events = [json.loads(line) for line in lines]
        for event in events:
            if event["kind"] == "DELIVERED" and message in ("", event["message"]):
                event["t_us"] += seconds * 1_000_000
        return [json.dumps(event).encode() + b"\n" for event in events]

    return edit


def without(kind: str, message: str) -> Callable[[Lines], Lines]:
    return lambda lines: [
        line for line in lines if f'"{kind}"'.encode() not in line or f'"{message}"'.encode() not in line
    ]


def held_up(path: Path, lost: str = "") -> None:
    """B2 is away for 4 s of a run of 53 s, and what was published meanwhile comes 20 s late."""
    edited(path, "c2", later(20, "p1:3"))
    for at, kind in ((16, "FAULT_STARTED"), (20, "FAULT_ENDED")):
        fault = {"t_us": sample.EPOCH_US + at * 1_000_000, "node": "harness", "detail": "B2", "type": "kill"}
        edited(path, "harness", with_event(kind=kind, **fault))
    edited(path, "c3", without("DELIVERED", lost))


def overloaded(path: Path, lost: str) -> None:
    """c4 gets everything 20 s late, the last of it 5 s before the end; no link loses anything."""
    edited(path, "c4", later(20))
    edited(path, "c3", without("DELIVERED", lost))
    end = {"t_us": sample.EPOCH_US + 73_000_000, "node": "harness", "kind": "RUN_ENDED", "detail": "done"}
    edited(path, "harness", lambda lines: [line for line in lines if b"RUN_ENDED" not in line])
    edited(path, "harness", with_event(**end))
    plan = json.loads((path / "plan.json").read_bytes())
    for link in plan["network"]["links"]:
        del link["bandwidth_bps"]
    (path / "plan.json").write_text(json.dumps(plan))


def damage_captures(path: Path) -> None:
    first, second, third, *_ = sorted((path / "pcap").iterdir())
    first.write_bytes(first.read_bytes()[:-9])
    second.write_bytes(b"")
    third.write_bytes(b"nonsense")


def link_to_itself(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def spoil(path: Path, text: bytes) -> None:
    path.write_bytes(text)


def judged(path: Path, **fields: object) -> None:
    """The verdict on probes that are not there any more."""
    (path / "fidelity.json").write_text(json.dumps({"verdict": "pass", **fields}))
    shutil.rmtree(path / "probes")


def publisher_with(path: Path, count: int) -> None:
    """By the plan p1 makes so many; what the run made stays."""
    plan = json.loads((path / "plan.json").read_bytes())
    source = {"source": "fixed", "period_us": 100_000, "first_us": 1, "count": count}
    next(client for client in plan["clients"] if client["id"] == "p1")["publications"] = source
    plan["phases"][-1]["run_for_us"] = 1_000_000_000
    (path / "plan.json").write_text(json.dumps(plan))
    start = {"t_us": sample.EPOCH_US, "node": "harness", "kind": "PHASE_STARTED", "detail": "settle"}
    last = {
        "t_us": sample.EPOCH_US + 5_000_001,
        "node": "harness",
        "kind": "PHASE_READY",
        "detail": "publish",
    }
    edited(path, "harness", with_event(**start))
    edited(path, "harness", with_event(**last))


CASES: dict[str, Callable[[Path], None]] = {
    "good": lambda path: None,
    "no captures": lambda path: shutil.rmtree(path / "pcap"),
    "torn": lambda path: edited(path, "B2", lambda lines: [*lines[:-1], lines[-1][:30]]),
    "bad line": lambda path: edited(path, "B2", lambda lines: [*lines[:3], b'{"t_us": x}\n', *lines[3:]]),
    "wrong type": lambda path: edited(path, "c2", with_event(t_us="soon", kind="DELIVERED")),
    "newer": lambda path: edited(path, "B2", with_event(t_us=5, node="B2", kind="TELEPORTED", colour="red")),
    "silent": lambda path: (path / "events" / "B3.jsonl").unlink(),
    "duplicate": lambda path: edited(path, "c2", doubled("DELIVERED")),
    "phantom": lambda path: edited(path, "c2", with_event(**delivered("p1:0", 5000))),
    "missing": lambda path: edited(path, "c3", without_first("DELIVERED")),
    "early": lambda path: edited(path, "c2", published_later),
    "unlogged": lambda path: edited(path, "B2", without_first("SENT")),
    "dropped": lambda path: edited(path, "B2", without_first("SENT")),
    "tls": lambda path: manifest(path, tls=True),
    "damaged": damage_captures,
    "no client log": lambda path: (path / "events" / "c3.jsonl").unlink(),
    "a link to itself": lambda path: link_to_itself(path / "events" / "c3.jsonl"),
    "no harness log": lambda path: (path / "events" / "harness.jsonl").unlink(),
    "unended": lambda path: edited(path, "harness", without_first("RUN_ENDED")),
    "one capture": lambda path: (path / "pcap" / "h2-h2-eth0.pcap").unlink(),
    "broken probe": lambda path: spoil(path / "probes" / "h1.jsonl", b"{}\n{\n{}\n"),
    "no probes": lambda path: judged(path, probes=100),
    "broken fidelity": lambda path: spoil(path / "fidelity.json", b"{"),
    "all made": lambda path: publisher_with(path, PUBLICATIONS),
    "two not made": lambda path: publisher_with(path, PUBLICATIONS + 2),
}  # fmt: skip

# The same with a publication every 2 s: these last long enough for hold-ups.
SLOW_CASES: dict[str, Callable[[Path], None]] = {
    "held up": held_up,
    "held up and lost": lambda path: held_up(path, lost="p1:19"),
    "overloaded and lost": lambda path: overloaded(path, lost="p1:18"),
}


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("runs with a space")
    for name, spoil in CASES.items():
        sample.make_run(base / name, BROKERS, PUBLICATIONS, run=name)
        spoil(base / name)
    for name, spoil in SLOW_CASES.items():
        sample.make_run(base / name, BROKERS, PUBLICATIONS, run=name, period_us=2_000_000)
        spoil(base / name)
    listed = json.loads((base / "dropped" / "manifest.json").read_bytes())["captures"]
    manifest(base / "dropped", captures=[{**listed[0], "dropped": 3}, *listed[1:]])
    sample.make_run(base / "tree", 7, 30, fanout=2, run="tree")
    _with_checks(base / "tree")
    return base


def _with_checks(path: Path) -> None:
    from testbed.topology.plan import dump, load

    plan = load((path / "plan.json").read_bytes())
    plan.checks = [
        Check("quick", "delay.p99_us < 30000 and hops.max = 2"),
        Check("too strict", "delay.p99_us < 1"),
        Check("no such table", "delays.p99_us < 1"),
        Check("no value", "(select mean_us from delay where group = 'nobody') < 5"),
        Check("query", "(select count(*) from deliveries where outcome = 'missing') = 0"),
    ]
    (path / "plan.json").write_bytes(dump(plan))


@pytest.fixture(scope="session")
def analysis(spark: SparkSession, folders: Path) -> Analysis:
    from testbed.analysis import analyze

    return analyze([folders / name for name in [*CASES, *SLOW_CASES, "tree"]], spark=spark)


def verdict(analysis: Analysis, run: str, name: str) -> tuple[str, str]:
    found = next(v for v in analysis.verdicts[run] if v.name == name)
    return found.verdict, f"{found.reason} {found.evidence}"


def test_a_good_run_passes_every_check(analysis: Analysis) -> None:
    assert {v.name: v.verdict for v in analysis.verdicts["good"]} == {
        "every broker logged": "pass",
        "every client logged": "pass",
        "the harness logged": "pass",
        "event logs are whole": "pass",
        "every capture is there": "pass",
        "captures are whole": "pass",
        "wire agrees with logs": "pass",
        "publications as planned": "pass",
        "no missing delivery": "pass",
        "no duplicate delivery": "pass",
        "no phantom delivery": "pass",
        "causes come first": "pass",
        "fidelity": "pass",
    }


@pytest.mark.parametrize(
    ("run", "name", "outcome", "says"),
    [
        ("no captures", "captures are whole", "unknown", "tables come from the logs alone"),
        ("no captures", "wire agrees with logs", "unknown", "no captures"),
        ("torn", "event logs are whole", "pass", "1 torn last lines dropped ['B2.jsonl']"),
        ("bad line", "event logs are whole", "fail", "B2.jsonl:4:"),
        ("wrong type", "event logs are whole", "pass", "1 torn"),
        ("newer", "event logs are whole", "unknown", "TELEPORTED (1)"),
        ("silent", "every broker logged", "fail", "B3"),
        ("duplicate", "no duplicate delivery", "fail", "to c2"),
        ("phantom", "no phantom delivery", "fail", "p1:0 to c2"),
        ("missing", "no missing delivery", "fail", "to c3"),
        ("held up", "no missing delivery", "pass", "pairs"),
        ("held up and lost", "no missing delivery", "fail", "p1:19 to c3"),
        ("overloaded and lost", "no missing delivery", "fail", "p1:18 to c3"),
        ("early", "causes come first", "fail", "before its cause"),
        ("unlogged", "wire agrees with logs", "fail", "B2 to B1, hello: log 0, wire 1"),
        ("dropped", "wire agrees with logs", "pass", "3 packets dropped"),
        ("dropped", "captures are whole", "unknown", "3 packets dropped"),
        ("tls", "wire agrees with logs", "unknown", "TLS"),
        ("damaged", "captures are whole", "unknown", "cut in mid-record"),
        ("damaged", "every capture is there", "fail", "h2-h2-eth0.pcap: empty"),
        ("no captures", "every capture is there", "fail", "pcap/h1-h1-eth0.pcap: missing"),
        ("one capture", "every capture is there", "fail", "pcap/h2-h2-eth0.pcap: missing"),
        ("no client log", "every client logged", "fail", "c3 (events/clients-h3.jsonl)"),
        ("a link to itself", "every client logged", "fail", "c3"),
        ("no harness log", "the harness logged", "fail", "events/harness.jsonl"),
        ("unended", "the harness logged", "fail", "does not say that the run ended"),
        ("broken probe", "fidelity", "fail", "probes/h1.jsonl:2"),
        ("no probes", "fidelity", "fail", "judges 100 probes"),
        ("all made", "publications as planned", "pass", f"{PUBLICATIONS} planned"),
        ("two not made", "publications as planned", "fail", f"p1 made {PUBLICATIONS} of {PUBLICATIONS + 2}"),
        ("broken fidelity", "fidelity", "fail", "fidelity.json"),
        ("tree", "quick", "pass", "p99"),
        ("tree", "too strict", "fail", "p99"),
        ("tree", "no such table", "unknown", "delays"),
        ("tree", "no value", "unknown", "no such value"),
        ("tree", "query", "pass", "missing"),
    ],
)
def test_what_is_wrong_is_found(analysis: Analysis, run: str, name: str, outcome: str, says: str) -> None:
    found, text = verdict(analysis, run, name)
    assert (found, says in text) == (outcome, True), text


def test_one_wrong_thing_fails_one_run_only(analysis: Analysis) -> None:
    failing = {run for run, _ in analysis.failed}
    wrong = {"bad line", "silent", "duplicate", "phantom", "missing", "early", "unlogged", "tree"}
    gone = {"no captures", "damaged", "one capture", "no client log", "a link to itself", "no harness log"}
    gone |= {"unended", "broken probe", "no probes", "broken fidelity", "two not made"}
    assert failing == wrong | gone | {"held up and lost", "overloaded and lost"}


@pytest.mark.parametrize("off_us", [-1, 0, 1])
def test_a_microsecond_moves_no_publication_to_another_window(spark: SparkSession, off_us: int) -> None:
    """Who publishes once a second publishes at every edge of windows that begin with that."""
    first_us = 1_000_000_000
    times = [first_us] + [first_us + second * 1_000_000 + off_us for second in range(1, 30)]
    names = ["run", "row", "copies", "published_us", "publisher", "group", "broker", "delay_us", "direct_us"]
    budget = ["propagation_us", "processing_us", "queueing_us", "rest_us"]
    rows = [("r", "pair", 1, at, "p", "g", "B1", 5, 5, 5, 0, 0, 0) for at in times]
    from testbed.analysis.tables.delay import delay

    table = delay(spark.createDataFrame(rows, [*names, *budget]), len(rows), {"r": first_us})
    windows = table.where("group_by = 'window'").select("group", "count").collect()
    assert sorted(map(tuple, windows)) == [("0", 10), ("10", 10), ("20", 10)]


def test_tables_do_not_mix_runs(analysis: Analysis) -> None:
    delay = analysis.frame("delay")
    everything = delay[delay["group_by"] == "all"].set_index("run")["count"].to_dict()
    assert everything["good"] == everything["tls"] == 3 * 14
    assert everything["missing"] == 3 * 14 - 1
    assert everything["phantom"] == 3 * 14 + 1
    assert everything["tree"] == 6 * 21


def test_delays_and_budget_equal_a_plain_reference(analysis: Analysis, folders: Path) -> None:
    """Percentiles, stretch and budget worked out from the log lines with nothing but Python."""
    events = read_events(folders / "tree")
    delays: dict[tuple[str, str], list[int]] = {}
    for e in events:
        if e.kind == "DELIVERED":
            for group in (
                ("all", "all"),
                ("class", e.group),
                ("broker", "B" + e.node[1:]),
                ("publisher", "p1"),
            ):
                delays.setdefault(group, []).append(e.t_us - e.published_us)
    frame = analysis.frame("delay", "tree").set_index(["group_by", "group"])
    for group, values in delays.items():
        row = frame.loc[group]
        assert row["count"] == len(values)
        assert row["mean_us"] == statistics.fmean(values)
        assert row["max_us"] == max(values)
        for share in (50, 90, 95, 99):
            assert row[f"p{share}_us"] == pytest.approx(np.percentile(values, share), rel=1e-12)
        assert row["stretch_mean"] == pytest.approx(statistics.fmean(v / 10_000 for v in values), rel=1e-8)
    deep = analysis.frame("deliveries", "tree").query("subscriber == 'c7'").iloc[0]
    brokers = 3  # B1, B3, B7
    assert deep["overlay_hops"] == 2
    assert deep["network_hops"] == 4
    assert deep["propagation_us"] == 20_000
    assert deep["processing_us"] == brokers * sample.MATCHING_US
    assert deep["queueing_us"] == brokers * (sample.QUEUEING_US + sample.SENDING_US)
    assert deep["rest_us"] == 2


def test_hops_equal_a_plain_reference(analysis: Analysis, folders: Path) -> None:
    hops = [e.hops for e in read_events(folders / "tree") if e.kind == "DELIVERED"]
    row = analysis.frame("hops", "tree").set_index("measure").loc["overlay"]
    assert (row["count"], row["mean"], row["max"]) == (len(hops), statistics.fmean(hops), max(hops))
    assert row["p95"] == np.percentile(hops, 95)
    shares = (
        analysis.frame("hop_distribution", "tree").query("measure == 'overlay'").set_index("hops")["count"]
    )
    assert shares.to_dict() == {value: hops.count(value) for value in set(hops)}


def test_overhead_equals_a_plain_reference(analysis: Analysis, folders: Path) -> None:
    sent = [e for e in read_events(folders / "tree") if e.kind in ("SENT", "FORWARDED")]
    table = analysis.frame("overhead", "tree").query("link == 'overlay'").set_index(["class", "type"])
    for kind in ("hello", "subscription"):
        own = [e for e in sent if e.type == kind]
        row = table.loc["control", kind]
        assert (row["log_messages"], row["log_bytes"]) == (len(own), sum(e.bytes for e in own))
        assert (row["difference"], row["difference_bytes"]) == (0, 0)
    data = [e for e in sent if e.kind == "FORWARDED"]
    row = table.loc["data", "publication"]
    assert (row["log_messages"], row["wire_messages"]) == (len(data), len(data))
    assert row["messages_per_delivery"] == len(data) / (6 * 21)


def test_without_captures_the_wire_columns_are_empty_and_the_others_the_same(analysis: Analysis) -> None:
    ours, theirs = (analysis.frame("overhead", run) for run in ("no captures", "good"))
    assert ours["wire_messages"].isna().all()
    assert ours["log_messages"].tolist() == theirs["log_messages"].tolist()


def test_damaged_captures_still_give_what_is_whole(analysis: Analysis) -> None:
    links = analysis.frame("link_messages", "damaged")
    assert links["wire_messages"].isna().any()
    assert links["wire_messages"].notna().any()


def test_links_have_three_witnesses(analysis: Analysis) -> None:
    table = analysis.frame("links", "good").set_index(["source", "target"])
    up, down = table.loc["h1", "s1"], table.loc["s1", "h1"]
    assert (up["counter_packets"], up["counter_bytes"]) == (20, 2000)
    assert up["pcap_packets"] > 0
    assert (down["counter_packets"], down["flow_packets"], down["flow_bytes"]) == (40, 42, 6200)
    assert up.isna()["flow_packets"]
    assert down.isna()["pcap_packets"]


FILLED = (
    "delay",
    "hops",
    "hop_distribution",
    "overhead",
    "link_messages",
    "purposes",
    "wire",
    "load",
    "links",
)
FILLED += ("deliveries", "losses", "fault_losses", "fidelity")


def test_files_are_written_with_provenance_on_every_row(analysis: Analysis, folders: Path) -> None:
    from testbed.analysis.tables.catalogue import PROVENANCE, TABLES

    for name, columns in TABLES.items():
        table = pq.read_table(folders / "good" / "tables" / f"{name}.parquet")
        assert table.column_names == [*PROVENANCE, *columns], name
        if name not in FILLED and not len(table):  # it had no fault, no trees, no handovers
            continue
        assert set(table["run"].to_pylist()) == {"good"}, name
        assert set(table["engine"].to_pylist()) == {"guest"}
        head = (folders / "good" / "tables" / f"{name}.csv").read_text().splitlines()[0]
        assert head.replace('"', "").split(",") == table.column_names
    saved = json.loads((folders / "good" / "verdicts.json").read_bytes())
    assert [v["name"] for v in saved] == [v.name for v in analysis.verdicts["good"]]
    assert all(set(v) == {"name", "verdict", "reason", "evidence"} for v in saved)


@pytest.mark.parametrize("partitions", [1, 7])
def test_tables_do_not_depend_on_the_number_of_partitions(
    spark: SparkSession, analysis: Analysis, folders: Path, partitions: int
) -> None:
    from testbed.analysis import analyze

    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    try:
        again = analyze([folders / "tree"], spark=spark, write=False)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", str(before))
    for name in analysis.tables:
        assert again.frame(name).to_csv() == analysis.frame(name, "tree").to_csv(), name


@pytest.mark.parametrize("rows", [130, 10])
def test_deliveries_too_many_for_the_driver_are_the_same(
    spark: SparkSession,
    analysis: Analysis,
    folders: Path,
    tmp_path: Path,
    rows: int,
) -> None:
    """Run by run on the driver (130: more than each run has, less than both), or written by Spark's tasks."""
    from testbed.analysis import analyze

    for name in ("good", "tree"):
        shutil.copytree(folders / name, tmp_path / name)
    again = analyze([tmp_path / name for name in ("good", "tree")], spark=spark, collect_rows=rows)
    assert "deliveries" not in again.tables
    for name in ("good", "tree"):
        assert (tmp_path / name / "tables" / "deliveries.parquet").is_dir() == (rows == 10)
        ours, theirs = (
            pq.read_table(base / name / "tables" / "deliveries.parquet") for base in (tmp_path, folders)
        )
        assert ours.to_pylist() == theirs.to_pylist()
        assert ours.schema.types == theirs.schema.types
        assert (tmp_path / name / "tables" / "deliveries.csv").exists() == (rows == 130)
    assert again.frame("deliveries", "tree").equals(analysis.frame("deliveries", "tree"))
    assert verdict(again, "tree", "query")[0] == "pass"


def test_the_terminal_fits_eighty_columns(analysis: Analysis) -> None:
    import io

    from rich.console import Console

    from testbed.analysis.printed_tables import show

    out = io.StringIO()
    show(analysis, Console(file=out, width=80))
    text = out.getvalue()
    assert "…" not in text
    assert "fidelity pass" in text
    assert "fail no phantom delivery" in text


@pytest.mark.parametrize("pushdown", ["true", "false", None])
def test_data_source_gives_the_same_packets_as_the_fast_path(
    spark: SparkSession, folders: Path, pushdown: str | None
) -> None:
    from testbed.analysis import read_grpc, read_pcap, register
    from testbed.analysis.sources.pcap import PUSHDOWN

    session = spark.newSession()
    session.conf.unset(PUSHDOWN) if pushdown is None else session.conf.set(PUSHDOWN, pushdown)
    register(session)
    spark = session
    place = str(folders / "good" / "pcap")
    source = spark.read.format("pcap").load(place + "/*.pcap")
    fast = read_pcap(spark, place)
    assert source.columns == fast.columns
    assert sorted(source.collect()) == sorted(fast.collect())
    pruned = spark.read.format("pcap").schema("ts_ns long, dport int").load(place)
    wanted = fast.where("dport = 5000").count()
    assert pruned.where("dport = 5000").count() == wanted > 0
    small = read_pcap(spark, place, ["ts_ns"], part_bytes=4000)
    assert small.count() == fast.count()
    assert read_grpc(spark, place).where("type = 'publication'").count() == 2 * 3 * 14  # both ends captured


def test_records_of_run_folders_are_tables_of_their_own(spark: SparkSession, folders: Path) -> None:
    from testbed.analysis import read_records
    from testbed.errors import InputError

    runs = [folders / "good", folders / "torn"]
    ports = read_records(spark, "ports", runs)
    assert ports.groupBy("run").max("tx_bytes").orderBy("run").collect() == [("good", 6000), ("torn", 6000)]
    flows = read_records(spark, "flows", runs)
    assert flows.groupBy("run", "node", "target", "peer").max("packets").orderBy("run").collect() == [
        ("good", "s1", "h1", "h1", 42),
        ("torn", "s1", "h1", "h1", 42),
    ]
    assert read_records(spark, "probes", folders / "good").where("measured_us >= planned_us").count() == 100
    events = read_records(spark, "events", runs)
    assert [row.file for row in events.where("bad_line is not null").collect()] == ["B2.jsonl"]
    assert events.where("kind = 'DELIVERED' and run = 'torn'").count() == 3 * 14
    with pytest.raises(InputError, match="no records 'port'"):
        read_records(spark, "port", runs)


def read_events(path: Path) -> list[LogEvent]:
    decoder = msgspec.json.Decoder(LogEvent)
    return [
        decoder.decode(line)
        for file in (path / "events").iterdir()
        for line in file.read_bytes().splitlines()
    ]


def test_approximate_percentiles_keep_the_stated_error(spark: SparkSession) -> None:
    """Beyond the exact limit a percentile's rank is off by at most count / ACCURACY."""
    from pyspark.sql import functions as f

    from testbed.analysis.tables.percentiles import ACCURACY, EXACT_ROWS, method, percentiles

    count, shares = 300_000, [0.5, 0.9, 0.95, 0.99]
    frame = spark.range(count).selectExpr("pmod(id * 7919, 300000) AS delay_us")
    told = frame.agg(percentiles(f.col("delay_us"), shares, EXACT_ROWS + 1).alias("p")).first()
    assert told is not None
    for share, value in zip(shares, told["p"], strict=True):
        assert abs(value - share * count) <= count / ACCURACY + 1
    assert method(EXACT_ROWS + 1) == f"rank error at most 1/{ACCURACY}"
