"""Plays one churn sequence through every algorithm and writes down what each round cost.

LOW-ODA from scratch is by far the dearest, so beside the others it is built at every `low_every`-th round
only, for times that were taken side by side; `scratch.py` builds it at every round. All algorithms see the
same churn. Of each overlay it is counted how many topics were looked at and how many of them are not
connected: after every round those of the node that came or went, as no link of another topic can have
gone, and at every `low_every`-th round, as in every overlay from scratch, all of them.
Seconds are CPU time of this process: other load on the machine does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any

import pandas

from broker_grpc.protocols.topicconnected.components import disconnected
from broker_grpc.protocols.topicconnected.lowoda import low_oda
from broker_grpc.protocols.topicconnected.naive import NaiveMaintenance
from broker_grpc.protocols.topicconnected.overlay import Overlay, bits
from broker_grpc.protocols.topicconnected.shadow import ShadowMaintenance
from experiments.shadow_tco.systems import DUAL, GREEDY, LOW, Maintenance, systems
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
    for k, change in enumerate(churn(setting, list(interests), random), start=1):
        is_full = k % low_every == 0
        rows += [one_round(k, change, name, m, is_full) for name, m in made.items()]
        update(interests, change)
        if is_full:
            rows.append(from_scratch(k, change, interests)[0])
        if k % max(1, setting.rounds // 20) == 0:
            report(f"{setting.popularity}: churn round {k} of {setting.rounds}")
    return labelled(rows, setting, seed), labelled(degrees, setting, seed)


def labelled(rows: list[Row], setting: Setting, seed: int) -> pandas.DataFrame:
    frame = pandas.DataFrame(rows)
    frame.insert(0, "popularity", setting.popularity)
    frame.insert(1, "seed", seed)
    return frame


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    result = action()
    return result, time.process_time() - start


def shape(overlay: Overlay[Any, Any]) -> Row:
    """Of an overlay of which nothing was known before: all its topics are looked at."""
    return {**size(overlay), **connectivity(overlay, None)}


def size(overlay: Overlay[Any, Any]) -> Row:
    return {
        "edges": overlay.edge_count,
        "max_degree": overlay.max_degree(),
        "average_degree": overlay.average_degree(),
    }


def connectivity(overlay: Overlay[Any, Any], topics: int | None) -> Row:
    looked_at = len(overlay.subscribers) if topics is None else topics.bit_count()
    return {"topics_checked": looked_at, "disconnected": sum(1 for _ in disconnected(overlay, topics))}


def update(interests: dict[int, list[int]], change: Churn) -> None:
    if change.topics is None:
        del interests[change.node]
    else:
        interests[change.node] = change.topics


def one_round(k: int, change: Churn, name: str, maintenance: Maintenance, is_full: bool) -> Row:
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
        **size(overlay),
        **connectivity(overlay, None if is_full else topics),
    }


def timed_leave(maintenance: Maintenance, node: int) -> tuple[Any, float]:
    if isinstance(maintenance, NaiveMaintenance):
        return timed(lambda: maintenance.leave(node))
    (added, orphans), seconds = timed(lambda: maintenance.repair_leave(node))
    maintenance.update_backups(orphans)
    return added, seconds


def from_scratch(k: int, change: Churn, interests: dict[int, list[int]]) -> tuple[Row, Overlay[int, int]]:
    """LOW-ODA on the instance of round k."""
    overlay, seconds = timed(lambda: low_oda(dict(interests)))
    row: Row = {
        "round": k,
        "system": LOW,
        "kind": "leave" if change.topics is None else "join",
        "seconds": seconds,
        "nodes": len(interests),
        **shape(overlay),
    }
    return row, overlay


def backup_degrees(made: dict[str, Maintenance]) -> list[Row]:
    """Of the systems of figures 2 and 3."""
    rows = []
    for name in (GREEDY, DUAL):
        maintenance = made.get(name)
        if not isinstance(maintenance, ShadowMaintenance):
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
    return rows
