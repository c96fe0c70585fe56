"""Phases and events: what starts when, unrolled flaps and churn."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.topology.plan import Gate
from tests.topology.texts import BASE, plan_of

CLIENTS = """\
clients:
  pub: {count: 2, publish: {parameters: {symbol: 'S{i}'}}}
  sub: {count: 8, subscribe: ['[class,eq,STOCK]']}
"""


def test_default_phases() -> None:
    plan = plan_of(
        BASE
        + CLIENTS
        + "duration: 20s\ndefaults: {client: {lead: 4s}}\nprograms: {p: {node: B1, command: [ls]}}"
    )
    assert [(phase.name, phase.start) for phase in plan.phases] == [
        ("overlay", ["B1", "B2", "B3", "p"]),
        ("subscribers", [f"sub{i}" for i in range(1, 9)]),
        ("publishers", ["pub1", "pub2"]),
    ]
    assert plan.phases[0].gate.links_up
    assert plan.phases[1].gate == Gate(subscriptions_settled=True, timeout_us=120_000_000)
    assert plan.phases[2].gate.after_us == 4_000_000
    assert plan.phases[2].run_for_us == 20_000_000


def test_publishers_do_not_publish_before_the_lead_and_not_in_step() -> None:
    plan = plan_of(BASE + CLIENTS)
    firsts = [client.publications.first_us for client in plan.clients if client.publications]
    assert all(10_000_000 <= first < 11_000_000 for first in firsts)
    assert len(set(firsts)) == 2


def test_own_start_and_stop_times_leave_the_phases() -> None:
    text = CLIENTS.replace("count: 2,", "count: 2, start_at: publishers+5s, stop_at: publishers+9s,")
    plan = plan_of(BASE + text)
    assert plan.phases[2].start == []
    assert [(event.action, event.target, event.at_us) for event in plan.events] == [
        ("join", "pub1", 5_000_000),
        ("join", "pub2", 5_000_000),
        ("stop", "pub1", 9_000_000),
        ("stop", "pub2", 9_000_000),
    ]


def test_a_broker_that_joins_later_is_in_no_phase() -> None:
    plan = plan_of(BASE + "events: [{at: publishers+3s, join: B3}]")
    assert plan.phases[0].start == ["B1", "B2"]


def test_phases_of_the_file() -> None:
    plan = plan_of(
        BASE
        + CLIENTS
        + """\
phases:
  - {name: core, start: [B1, B2], ready: {links_up: true, timeout: 5s, on_timeout: continue, every: 100ms}}
  - {name: rest, start: [brokers], ready: {check: [test, -e, 'a b'], check_node: B1}, run_for: 1s}
  - {name: all, start: ['sub*', publishers], run_for: 2min}
"""
    )
    assert [phase.start for phase in plan.phases[:2]] == [["B1", "B2"], ["B3"]]
    assert plan.phases[0].gate == Gate(
        links_up=True, timeout_us=5_000_000, on_timeout="continue", every_us=100_000
    )
    assert plan.phases[1].gate.check == ["test", "-e", "a b"]
    assert plan.phases[1].gate.check_node == "hr1"
    assert len(plan.phases[2].start) == 10


def test_events_are_in_order_and_several_targets_are_several_events() -> None:
    plan = plan_of(
        BASE
        + """\
events:
  - {at: publishers+9s, restart: B1}
  - {at: overlay+1s, kill: [B2, B3]}
  - {at: 2s, heal: true}
  - {at: publishers + 500ms, partition: [B1, r2]}
"""
    )
    assert [(e.phase, e.at_us, e.action, e.target) for e in plan.events] == [
        ("overlay", 1_000_000, "kill", "B2"),
        ("overlay", 1_000_000, "kill", "B3"),
        ("publishers", 500_000, "partition", ""),
        ("publishers", 2_000_000, "heal", ""),
        ("publishers", 9_000_000, "restart", "B1"),
    ]
    assert plan.events[2].arguments == {"nodes": ["hr1", "r2"]}


def test_flaps_are_unrolled() -> None:
    plan = plan_of(BASE + "events: [{at: 1s, flap: {link: r1-r2, times: 2, down_for: 1s, up_for: 3s}}]")
    assert [(event.action, event.at_us) for event in plan.events] == [
        ("link_down", 1_000_000),
        ("link_up", 2_000_000),
        ("link_down", 5_000_000),
        ("link_up", 6_000_000),
    ]


def test_reshape_names_only_what_changes() -> None:
    plan = plan_of(BASE + "events: [{at: 1s, reshape: {link: r1-r2, latency: 0ms, loss: 5%}}]")
    assert plan.events[0].arguments == {"latency_us": 0, "loss": 0.05}


def churn(seed: int, extra: str = "") -> list[tuple[int, str, str]]:
    text = f"seed: {seed}\nevents: [{{at: 5s, churn: {{of: [sub], rate: 2/s, lasts: 60s, away: 2s{extra}}}}}]"
    return [(e.at_us, e.action, e.target) for e in plan_of(BASE + CLIENTS + text).events]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_churn_alternates_and_keeps_some_present(seed: int) -> None:
    events = churn(seed, ", keep: 3")
    present = {f"sub{i}" for i in range(1, 9)}
    for _, action, target in events:
        if action == "leave":
            assert target in present
            present.remove(target)
        else:
            assert action == "join"
            assert target not in present
            present.add(target)
        assert len(present) >= 3
    leaves = [at for at, action, _ in events if action == "leave"]
    assert all(5_000_000 <= at <= 65_000_000 for at in leaves)


def test_churn_has_its_rate_and_its_seed() -> None:
    counts = [Counter(action for _, action, _ in churn(seed))["leave"] for seed in range(10)]
    assert 80 < sum(counts) / len(counts) < 125  # 120 expected when nobody is missing
    assert churn(1) == churn(1) != churn(2)


def test_churn_by_crashes_that_do_not_come_back() -> None:
    actions = Counter(action for _, action, _ in churn(1, ", crash: true, comes_back: false, keep: 0"))
    assert actions == {"kill": 8}
