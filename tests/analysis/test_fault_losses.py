"""What faults cost, without Spark where it need not be: absences, causes, and a run counted by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from testbed.analysis.evidence.absences import FOREVER, Absence, absences
from testbed.analysis.evidence.fault_course import Fault, FaultCourse
from testbed.analysis.evidence.times import interests
from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Options
from testbed.run.folder import RunFolder
from testbed.simulation.engine import SimulateEngine
from testbed.topology.load import load_plan_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def event(t_us: int, kind: str, node: str = "c1", **fields: str) -> dict[str, Any]:
    blank = {"peer": "", "message": "", "content": "", "group": "", "type": "", "detail": ""}
    return {"t_us": t_us, "kind": kind, "node": node, **blank, **fields}


HELD = [
    event(1, "CONNECTED", peer="B1"),
    event(2, "SUBSCRIBED", peer="B1", message="s1", content="[a,eq,1]"),
    event(3, "SUBSCRIBED", peer="B1", message="s2", content="[b,eq,1]"),
]


def test_a_client_is_back_when_all_it_held_is_acknowledged_again() -> None:
    gone = [event(10, "DISCONNECTED", peer="B1"), event(20, "CONNECTED", peer="B1")]
    again = [
        event(21, "SUBSCRIBED", peer="B1", message="s3", content="[a,eq,1]"),
        event(25, "SUBSCRIBED", peer="B1", message="s4", content="[b,eq,1]"),
    ]
    assert absences([*HELD, *gone, *again], {"c1"}) == {"c1": (Absence(10, 25, away=False),)}
    assert absences([*HELD, *gone, again[0]], {"c1"}) == {"c1": (Absence(10, FOREVER, away=False),)}


@pytest.mark.parametrize("kind", ["FAULT_STARTED", "CRASHED"])
def test_a_killed_client_is_away_until_it_holds_everything_again(kind: str) -> None:
    killed = event(10, kind, node="harness", type="kill", detail="c1")
    back = [event(30, "STARTED"), *({**e, "t_us": e["t_us"] + 30} for e in HELD)]
    assert absences([*HELD, killed, *back], {"c1"}) == {"c1": (Absence(10, 33, away=True),)}


def test_one_that_migrates_is_never_without_a_broker() -> None:
    moved = [event(10, "MIGRATED", peer="B2"), event(11, "DISCONNECTED", peer="B1")]
    assert absences([*HELD, *moved], {"c1"}) == {}


def test_a_subscription_asked_for_again_ends_with_its_newest_id() -> None:
    """A client that lost its broker gets new ids; it unsubscribes by the new one."""
    again = [
        event(10, "DISCONNECTED", peer="B1"),
        event(20, "SUBSCRIBED", peer="B1", message="s3", content="[a,eq,1]"),
        event(30, "UNSUBSCRIBED", message="s3"),
    ]
    until = {(one.filter, one.from_us): one.until_us for one in interests([*HELD, *again], [])}
    assert until == {("[a,eq,1]", 2): 30, ("[b,eq,1]", 3): FOREVER, ("[a,eq,1]", 20): 30}


COURSE = FaultCourse(
    (Fault("kill", "B2", 100, 220, 230), Fault("link_down", "l1", 400, 450, 0)),
    {"B2": ((100, 180),), "B4": ((100, FOREVER),)},
    ((400, 450),),
    {
        "c2": (Absence(110, 230, away=False),),
        "c4": (Absence(300, 320, away=True),),
        "p9": (Absence(600, 650, away=False),),
    },
    {"p1": "B1", "p9": "B1", "c1": "B3", "c2": "B2", "c3": "B1", "c4": "B1"},
    (("B1", "B2"), ("B2", "B3"), ("B1", "B4")),
    flight_us=10,
)  # fmt: skip


@pytest.mark.parametrize(
    ("publisher", "subscriber", "at", "cause"),
    [
        ("p1", "c1", 95, "broker down"),  # it was killed while this was under way
        ("p1", "c1", 150, "broker down"),
        ("p1", "c3", 150, "re-advertising"),  # B2 is not on its way, nor is B4
        ("p1", "c2", 200, "subscriber redialling"),
        ("p1", "c1", 200, "re-advertising"),
        ("p1", "c1", 239, "re-advertising"),  # a flight after the window's end
        ("p1", "c1", 260, "unexplained"),
        ("p1", "c4", 310, "subscriber away"),
        ("p1", "c3", 395, "link cut"),
        ("p9", "c3", 640, "publisher redialling"),
        ("p9", "c3", 655, "re-advertising"),
    ],
)
def test_the_cause_of_a_loss(publisher: str, subscriber: str, at: int, cause: str) -> None:
    assert COURSE.cause(publisher, subscriber, at, at + 10) == cause


FILE = """
name: killed
seed: 3
duration: 30s
network: {generator: star, nodes: 4, link: {latency: 5ms}}
brokers: {B: {count: 4, place: one_per_node}}
overlay: {generator: chain}
clients:
  pub: {kind: publisher, broker: B1, publish: {source: stock, rate: 5/s, parameters: {symbol: YHOO}}}
  near: {kind: subscriber, broker: B1, subscribe: ["[class,eq,'STOCK']"]}
  on: {kind: subscriber, broker: B2, subscribe: ["[class,eq,'STOCK']"]}
  far: {kind: subscriber, broker: B4, subscribe: ["[class,eq,'STOCK']"]}
events:
  - {at: 10s, kill: B2}
  - {at: 18s, start: B2}
"""


def simulated(folder: Path) -> RunFolder:
    engine = SimulateEngine()
    made = prepare(load_plan_text(FILE, "killed.yaml"), None, folder, engine.name, "simulated")
    deploy(made, engine, Options("simulated"), lambda event: None)
    return made


@pytest.mark.spark
@pytest.mark.slow
def test_every_delivery_that_did_not_come_is_counted(spark: SparkSession, tmp_path: Path) -> None:
    """Every publication is for every subscriber, so lists and loops give the same sums and times."""
    from rich.console import Console

    from testbed.analysis import analyze
    from testbed.analysis.printed_tables import show

    run = simulated(tmp_path)
    analysis = analyze([run], spark=spark)
    logged = [json.loads(line) for file in sorted(run.events.glob("*.jsonl")) for line in file.open("rb")]
    published = {e["message"]: e["published_us"] for e in logged if e["kind"] == "PUBLISHED"}
    got = {(e["message"], e["node"]) for e in logged if e["kind"] == "DELIVERED"}
    subscribers = ("near", "on", "far")
    lost = [(m, who) for m in published for who in subscribers if (m, who) not in got]
    assert {who for _, who in lost} == {"on", "far"}

    losses = analysis.frame("fault_losses").set_index(["fault", "group", "cause"])
    row = losses.loc["all", "all", "all"]
    assert (row.expected, row.delivered, row.lost) == (3 * len(published), len(got), len(lost))
    assert losses.loc["none", "all", "all"].lost == 0, "every loss lies in the fault's window"
    for group in subscribers:
        assert losses.loc["kill B2", group, "all"].lost == sum(who == group for _, who in lost)
    causes = losses.loc["kill B2", "all"].drop("all").lost
    assert causes.sum() == len(lost)
    assert set(causes.index) >= {"broker down", "subscriber redialling"}

    (fault,) = analysis.frame("recoveries").itertuples()
    start = next(e["t_us"] for e in logged if e["kind"] == "FAULT_STARTED")
    last = max(published[m] for m, _ in lost)
    well = min(at for at in published.values() if at > last)
    assert (fault.fault, fault.recovered, fault.lost) == ("kill B2", "yes", len(lost))
    assert fault.recovery_s == pytest.approx((well - start) / 1e6)
    assert 8 < fault.clients_s <= fault.overlay_s, "the harness's window waits for the clients, too"

    console = Console(record=True, width=140)
    show(analysis, console)
    text = console.export_text()
    assert f"Delivered {len(got)} of {3 * len(published)} expected" in text
    assert "kill B2" in text

    from testbed.report.run_data import read_run
    from testbed.report.run_page import run_page

    html = run_page(read_run(run.path))
    assert f"{len(lost)} of {3 * len(published)} expected never arrived" in html
    assert "What the faults cost" in html
    assert "none missing" not in html
