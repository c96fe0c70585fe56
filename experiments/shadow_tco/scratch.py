"""LOW-ODA from scratch at every round, a stretch of rounds at a time.

What it builds hangs on who is there and on nothing before, so that stretches are points of their own: a long
set goes on where it stopped. Which links a round changes needs the overlay of the round before, which the
first round of a stretch builds as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from random import Random

import pandas

from broker_grpc.protocols.topicconnected.lowoda import low_oda
from broker_grpc.protocols.topicconnected.overlay import Overlay
from experiments.shadow_tco.rounds import Row, from_scratch, labelled, update
from experiments.shadow_tco.workload import Setting, churn, initial

Edges = set[tuple[int, int]]


def stretch(
    setting: Setting, seed: int, first: int, last: int, report: Callable[[str], None]
) -> pandas.DataFrame:
    """A row per round from `first` to `last`, of the churn that `rounds.play` sees with this seed."""
    rows = []
    for row in rows_of(setting, seed, first, last):
        rows.append(row)
        if len(rows) % 10 == 0:
            report(f"{setting.popularity}: LOW-ODA from scratch, round {row['round']} of {last}")
    return labelled(rows, setting, seed)


def rows_of(setting: Setting, seed: int, first: int, last: int) -> Iterator[Row]:
    random = Random(seed)
    interests = initial(setting, random)
    changes = churn(setting, list(interests), random)
    for change in islice(changes, first - 1):
        update(interests, change)
    before: Overlay[int, int] = low_oda(dict(interests))
    for k, change in enumerate(islice(changes, last - first + 1), start=first):
        size = len(interests[change.node] if change.topics is None else change.topics)
        update(interests, change)
        row, overlay = from_scratch(k, change, interests)
        old, new = edges_of(before), edges_of(overlay)
        yield row | {
            "subscription_size": size,
            "edges_before": len(old),
            "edges_added": len(new - old),
            "edges_removed": len(old - new),
        }
        before = overlay


def edges_of(overlay: Overlay[int, int]) -> Edges:
    return {(a, b) if a < b else (b, a) for a, b in overlay.edges()}
