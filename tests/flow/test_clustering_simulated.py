"""Flow against the simulator on small plans with spaced operations: the same clusters and messages."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from broker_grpc.protocols.clustering.broker import TamaraBroker
from broker_grpc.protocols.clustering.channel import State
from broker_grpc.protocols.clustering.clusterchannel import ClusterChannel
from broker_grpc.protocols.clustering.directory import number_of, tree_of, user_of
from broker_grpc.protocols.clustering.draws import identity
from broker_grpc.protocols.clustering.settings import ClusteringSettings
from broker_grpc.protocols.clustering.topicchannel import TopicChannel
from testbed.flow.clustering.system import bits
from testbed.flow.clustering.timeline import Timeline
from testbed.simulation.eventlog import SimulatedLog
from testbed.simulation.simulator import START_US, Simulator
from testbed.topology.plan import Client, Plan, SubscriptionPlan
from tests.simulation.chains import chain

BROKERS, SECOND = 8, 1_000_000
TOPICS = [f"t{n}" for n in range(6)]
RATES = dict(zip(TOPICS, (0.0, 0.01, 0.05, 0.1, 0.3, 0.8), strict=True))
APART_US, RUN_US = 1_300_000, 150 * SECOND
COUNTED = ("lookup", "trigger", "survey", "proposal")
Operation = tuple[int, int, int, bool]  # when, user, topic, wanted


def operations(random: Random) -> list[Operation]:
    """Most users want most topics, some only for a while; one thing at a time."""
    chosen = [(u, t) for u in range(BROKERS) for t in range(len(TOPICS)) if random.random() < 0.75]
    random.shuffle(chosen)
    steps = [(n * APART_US + SECOND, u, t, True) for n, (u, t) in enumerate(chosen)]
    begun = len(steps)
    lost = random.sample(chosen, len(chosen) // 3)
    steps += [((begun + n) * APART_US + SECOND, u, t, False) for n, (u, t) in enumerate(lost)]
    return steps


def plan_of(steps: list[Operation], margin: float, draws: int) -> Plan:
    plan = chain(BROKERS, run_for_us=RUN_US)
    for link in plan.network.links:
        link.latency_us = 20
    settings = {
        "ring": {"base_bits": 2, "bootstrap": "converged", "maintain": False}, "frequencies": RATES,
        "heartbeat_interval_us": SECOND, "silence_us": 3 * SECOND, "linger_us": 1000, "draws": draws,
        "clustering": {"cadence": 9, "margin": margin},
    }  # fmt: skip
    for n, broker in enumerate(plan.brokers):
        broker.algorithm, broker.seed = {"name": "tamara", **settings}, n
    plan.overlay = []
    wanted: dict[int, list[SubscriptionPlan]] = {}
    ends = {(u, t): at for at, u, t, wants in steps if not wants}
    for at, user, topic, wants in steps:
        if wants:
            until = ends.get((user, topic), 0)
            one = SubscriptionPlan(f"[class,eq,'{TOPICS[topic]}']", at_us=at, until_us=until)
            wanted.setdefault(user, []).append(one)
    plan.clients = [
        Client(f"s{u}", f"h{u}", f"B{u}", subscriptions=subs) for u, subs in sorted(wanted.items())
    ]
    plan.phases[1].start = [client.id for client in plan.clients]
    plan.phases[2].start = []
    return plan


class Found(NamedTuple):
    """Shortly before the end of the run."""

    clusters: dict[int, tuple[set[int], set[int]]]  # topics and members
    topics: dict[int, int]  # direct subscribers
    told: Counter[str]


def found_in(brokers: list[TamaraBroker]) -> Found:
    channels = [channel for broker in brokers for channel in broker.channels.held.values()]
    clusters = [c for c in channels if isinstance(c, ClusterChannel) and c.state is State.OPEN]
    return Found(
        {c.identity: (set(c.content), set(c.members)) for c in clusters},
        {c.identity: len(c.members) for c in channels if isinstance(c, TopicChannel)},
        sum((broker.told for broker in brokers), Counter[str]()),
    )


def simulated(plan: Plan, folder: Path) -> tuple[Found, list[dict[str, Any]]]:
    log = SimulatedLog(folder / "simulation.jsonl")
    simulator = Simulator(plan, log, lambda tell: None)
    simulator.begin()
    while simulator.agenda.now_us < START_US + RUN_US and simulator.step(1):
        pass
    machines = [simulator._running[broker.id].machine for broker in plan.brokers]
    found = found_in([machine for machine in machines if isinstance(machine, TamaraBroker)])
    while simulator.step(1000):
        pass
    simulator.end()
    log.close()
    assert simulator.outcome is not None
    assert simulator.outcome.status == "done", simulator.outcome.reason
    lines = (folder / "simulation.jsonl").read_bytes().splitlines()
    return found, [json.loads(line) for line in lines]


def flow_of(steps: list[Operation], events: list[dict[str, Any]], margin: float, draws: int) -> Timeline:
    """Flow through the operations and samples in the order in which the simulator had them."""
    flow = Timeline([*RATES.values()], BROKERS, ClusteringSettings(cadence=9, margin=margin), draws)
    flow.system.topic_identities = [identity(topic) for topic in TOPICS]
    names = [user_of(f"s{u}", f"B{u}") for u in range(BROKERS)]
    flow.system.user_identities = np.array([identity(name) for name in names], np.uint64)
    left = iter(steps)
    for event in events:
        if event["t_us"] >= START_US + RUN_US:
            break
        if event["kind"] == "RECEIVED" and event["type"] in ("subscription", "unsubscription"):
            _, user, topic, wants = next(left)
            assert wants == (event["type"] == "subscription")
            (flow.users.subscribe if wants else flow.users.unsubscribe)(user, topic)
        elif event["kind"] == "CLUSTERED" and json.loads(event["content"])["operation"] == "sampled":
            flow.rounds._propose(row_of(flow, event["message"]))
    assert next(left, None) is None
    return flow


def row_of(flow: Timeline, name: str) -> int:
    if name in TOPICS:
        return TOPICS.index(name)
    rows = {tree_of(number_of(c.identity)): row for row, c in flow.system.clusters.items()}
    return rows[name]


@pytest.mark.parametrize(("seed", "margin"), [(1, 0.0), (2, 0.05), (3, 0.4), (4, 0.4)])
def test_flow_counts_what_the_simulator_does(seed: int, margin: float, tmp_path: Path) -> None:
    steps = operations(Random(seed))
    found, events = simulated(plan_of(steps, margin, seed), tmp_path)
    flow = flow_of(steps, events, margin, seed)
    system = flow.system
    users, topics = [int(one) for one in system.user_identities], system.topic_identities
    assert found.clusters == {
        c.identity: ({topics[t] for t in bits(c.topics)}, {users[u] for u in system.held.of(row).tolist()})
        for row, c in system.clusters.items()
    }
    assert found.topics == {topics[t]: system.size(t) for t in range(len(TOPICS))}
    assert {p: found.told[p] for p in COUNTED} == {p: system.messages[p] for p in COUNTED}
    assert system.done["created"], "the plan is too dull to tell"
