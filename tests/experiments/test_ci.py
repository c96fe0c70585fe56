"""The study of self-organising trees: workload, measures, flow beside the simulator, brokers that run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy
import pytest

from experiments.ci.claims.simulated import Compared, exchanges, total
from experiments.ci.deployment import latencies, link_unit_us, plan_of
from experiments.ci.measures import Deliveries, Row, rows_of
from experiments.ci.simulated import compared
from experiments.ci.workload import Setting, clients, costs
from testbed.reproduction.evidence.events import Event, read_events
from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Options, choose
from testbed.run.folder import RunFolder

SIZE = Setting(domains=4, routers=10, brokers=14, types=6, subscribers=4, ticks=3_000, publication=15.0,
               sample=500)  # fmt: skip


# ---------------------------------------------------------------- section 5's workload


def test_each_type_has_a_publisher_and_always_subscribers_at_as_many_brokers() -> None:
    made = clients(SIZE, 1)
    assert sum(client.publications is not None for client in made) == SIZE.types
    stays: dict[str, list[tuple[str, int, int]]] = {}
    for client in made:
        for one in client.subscriptions:
            stays.setdefault(one.filter, []).append((client.broker, one.at_us, one.until_us or SIZE.end_us))
    assert len(stays) == SIZE.types
    for spans in stays.values():
        for at in numpy.linspace(1, SIZE.end_us - 1, 50):
            here = [broker for broker, begin, end in spans if begin <= at < end]
            assert len(here) == len(set(here)) == SIZE.subscribers


def test_links_change_at_t1_and_brokers_at_t2() -> None:
    before, between, after = costs(SIZE, 1, 10.0, 10.0, redrawn=2)
    assert before.links != between.links
    assert between.links == after.links
    assert before.processing == between.processing
    assert between.processing != after.processing
    for one in (before, after):
        pairs = numpy.array(one.links)[~numpy.eye(SIZE.brokers, dtype=bool)]
        assert (pairs.min(), pairs.max()) == (0.0, 10.0)
        assert min(one.processing) >= 0
        assert max(one.processing) <= 10


# ---------------------------------------------------------------- measures


def event(kind: str, t_us: int, node: str, message: str = "", topic: str = "t0") -> Event:
    content = {"SUBSCRIBED": f"[class,eq,'{topic}']", "PUBLISHED": f"[class,'{topic}'],[number,0]"}
    return Event(t_us, kind, node=node, message=message, content=content.get(kind, ""), published_us=t_us)


def test_what_is_lost_doubled_or_out_of_order_is_seen() -> None:
    s = 1_000_000
    told = [event("SUBSCRIBED", 0, "s0", "a"), event("SUBSCRIBED", 0, "s1", "b")]
    told += [event("PUBLISHED", n * s, "p0", f"p0:{n}") for n in range(1, 12)]
    told += [event("DELIVERED", n * s, "s0", f"p0:{n}") for n in (1, 2, 3, 5, 4, 6, 7, 8, 8, 9, 10, 11)]
    told.append(event("UNSUBSCRIBED", 4 * s + 1, "s1", "b"))
    found = Deliveries(sorted(told, key=lambda e: e.t_us if e.kind != "DELIVERED" else 99 * s))
    assert found.twice == 1
    assert found.disorder == 1
    assert found.lost(20 * s) == {("s1", f"p0:{n}") for n in (1, 2, 3)}


# ---------------------------------------------------------------- flow beside the simulator


def test_flow_costs_what_messages_that_take_time_cost() -> None:
    """Within the study's bounds of the sum; a small network has too few exchanges for the others."""
    tables = compared(lambda said: None, asdict(SIZE), "uniform", 1, "ci")
    data = Compared(tables["compared"], tables["exchanged"])
    assert set(data.costs.by) == {"flow", "simulator"}
    assert set(data.costs.purpose) == {"data", "interest", "request", "exchange"}
    assert total(data).holds, total(data).measured
    assert exchanges(data).holds is not None


# ---------------------------------------------------------------- brokers that run


def check_deployed(folder: Path, engine: str) -> None:
    chosen = choose(engine, None)[0]
    clock = chosen.clocks()[0]
    plan = plan_of(SIZE, "uniform", 1, "ci", "measured")
    made = prepare(plan, None, folder, chosen.name, clock)
    outcome = deploy(made, chosen, Options(clock), lambda said: None)
    assert outcome.manifest.status == "done", outcome.manifest.reason
    (found,) = rows_of(outcome.folder)["runs"]
    check_guarantee(dict(found))
    check_measured(outcome.folder)


def check_guarantee(found: Row) -> None:
    assert found["done"] > 5
    assert found["demanded"] > 500
    wrong = {name: found[name] for name in ("lost", "twice", "disorder", "mixed", "dropped")}
    assert not any(wrong.values()), wrong


def check_measured(run: RunFolder) -> None:
    """A round trip is told as it is planned, before t1 or after it."""
    matrices = latencies(SIZE, 1)
    unit_us = link_unit_us(matrices)
    told = [e for e in read_events(run.events) if e.kind == "PRICED" and e.peer]
    assert len(told) >= 2 * (SIZE.brokers - 1)
    for one in told:
        a, b = int(one.node[1:]) - 1, int(one.peer[1:]) - 1
        off = [abs(float(one.content) - 2 * matrix[a][b] / unit_us) for matrix in matrices]
        assert min(off) * unit_us < 500, one


def test_simulated_brokers_lose_nothing_and_measure_what_is_planned(tmp_path: Path) -> None:
    check_deployed(tmp_path, "simulate")


@pytest.mark.nightly
@pytest.mark.guest
def test_real_brokers_lose_nothing_and_measure_what_is_planned(tmp_path: Path) -> None:
    check_deployed(tmp_path, "guest")
