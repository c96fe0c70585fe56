"""Plays one churn sequence through every algorithm and writes down what each round cost.

LOW-ODA from scratch is by far the dearest, so it is built at every `low_every`-th round and at the
round before it (the repair ratio compares two successive overlays). All algorithms see the same
churn, and topic-connectivity is asserted for the changed topics after every round of every one.
Seconds are CPU time of this process: other load on the machine does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any

import pandas

from broker_grpc.protocols.topicconnected.components import is_topic_connected
from broker_grpc.protocols.topicconnected.lowoda import low_oda
from broker_grpc.protocols.topicconnected.naive import NaiveMaintenance
from broker_grpc.protocols.topicconnected.overlay import Overlay, bits
from broker_grpc.protocols.topicconnected.shadow import ShadowMaintenance
from experiments.shadow_tco.systems import LOW, Maintenance, systems
from experiments.shadow_tco.workload import Churn, Setting, churn, initial

Row = dict[str, Any]


def play(
    setting: Setting, seed: int, wanted: list[str], low_every: int, report: Callable[[str], None]
) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Per-round rows, and the backup and primary degrees at round 0."""
    random = Random(seed)
    interests = initial(setting, random)
    base, seconds = timed(lambda: low_oda(interests))
    rows: list[Row] = [{"round": 0, "system": LOW, "seconds": seconds, **shape(base)}]
    made = systems(base, seed, wanted)
    degrees = backup_degrees(made)
    rows += [{"round": 0, "system": name, "seconds": 0.0, **shape(m.overlay)} for name, m in made.items()]
    previous: tuple[int, set[tuple[int, int]]] = (0, base.edges())
    for k, change in enumerate(churn(setting, list(interests), random), start=1):
        rows += [one_round(k, change, name, m) for name, m in made.items()]
        size = len(interests[change.node] if change.topics is None else change.topics)
        update(interests, change)
        if k % low_every in (0, low_every - 1):
            row, edges = from_scratch(k, change, size, interests, previous)
            rows.append(row)
            previous = (k, edges)
        if k % max(1, setting.rounds // 20) == 0:
            report(f"{setting.popularity}: churn round {k} of {setting.rounds}")
    frame = pandas.DataFrame(rows)
    for table in (frame, degrees):
        table.insert(0, "popularity", setting.popularity)
        table.insert(1, "seed", seed)
    return frame, degrees


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    result = action()
    return result, time.process_time() - start


def shape(overlay: Overlay[Any, Any]) -> Row:
    return {
        "edges": overlay.edge_count,
        "max_degree": overlay.max_degree(),
        "average_degree": overlay.average_degree(),
    }


def update(interests: dict[int, list[int]], change: Churn) -> None:
    if change.topics is None:
        del interests[change.node]
    else:
        interests[change.node] = change.topics


def one_round(k: int, change: Churn, name: str, maintenance: Maintenance) -> Row:
    """`seconds` is what connectivity waits for: steps I and II of a join, step II of a leave."""
    overlay = maintenance.overlay
    before = overlay.edge_count
    wanted = change.topics
    if wanted is not None:
        added, seconds = timed(lambda: maintenance.join(change.node, wanted))
        topics = overlay.topics[overlay.index[change.node]]
        removed = 0
    else:
        i = overlay.index[change.node]
        topics, removed = overlay.topics[i], overlay.degree[i]
        added, seconds = timed_leave(maintenance, change.node)
    if not is_topic_connected(overlay, topics):
        raise AssertionError(f"{name}: round {k} left a topic disconnected")
    shadow = maintenance.shadow.bit_count() if isinstance(maintenance, ShadowMaintenance) else 0
    return {
        "round": k,
        "system": name,
        "kind": "leave" if wanted is None else "join",
        "subscription_size": topics.bit_count(),
        "shadow_size": shadow,
        "seconds": seconds,
        "edges_added": len(added),
        "edges_removed": removed,
        "edges_before": before,
        "nodes": overlay.alive.bit_count(),
        **shape(overlay),
    }


def timed_leave(maintenance: Maintenance, node: int) -> tuple[Any, float]:
    if isinstance(maintenance, NaiveMaintenance):
        return timed(lambda: maintenance.leave(node))
    (added, orphans), seconds = timed(lambda: maintenance.repair_leave(node))
    maintenance.update_backups(orphans)
    return added, seconds


def from_scratch(
    k: int,
    change: Churn,
    size: int,
    interests: dict[int, list[int]],
    previous: tuple[int, set[tuple[int, int]]],
) -> tuple[Row, set[tuple[int, int]]]:
    """LOW-ODA on the instance of round k; repair edges where round k - 1 was built as well."""
    overlay, seconds = timed(lambda: low_oda(dict(interests)))
    edges = {tuple(sorted(e)) for e in overlay.edges()}
    row: Row = {
        "round": k,
        "system": LOW,
        "kind": "leave" if change.topics is None else "join",
        "subscription_size": size,
        "seconds": seconds,
        "nodes": len(interests),
        **shape(overlay),
    }
    if previous[0] == k - 1:
        row["edges_before"] = len(previous[1])
        row["edges_added"] = len(edges - previous[1])
        row["edges_removed"] = len(previous[1] - edges)
    return row, edges


def backup_degrees(made: dict[str, Maintenance]) -> pandas.DataFrame:
    rows = []
    for name, maintenance in made.items():
        if isinstance(maintenance, NaiveMaintenance):
            continue
        overlay, state = maintenance.overlay, maintenance.state
        for v in bits(overlay.alive):
            rows.append(
                {
                    "system": name,
                    "node": overlay.name[v],
                    "subscription_size": overlay.topics[v].bit_count(),
                    "backups": state.backups.get(v, 0).bit_count(),
                    "primaries": state.primaries.get(v, 0).bit_count(),
                }
            )
    return pandas.DataFrame(rows)
