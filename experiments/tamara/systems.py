"""The systems that are compared: Scribe, Tamara, SC (clusters frozen at the start), K-means.

Scribe's cost is a column of every row: all interests as direct subscriptions.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from msgspec import structs
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from broker_grpc.protocols.clustering import subscribing
from broker_grpc.protocols.clustering.costs import TIE, Channel, Costs, Overall, overall
from broker_grpc.protocols.clustering.settings import ClusteringSettings
from experiments.tamara.workload import Workload
from testbed.flow.clustering.timeline import Operation, Row, Timeline
from testbed.topology.seeding import seed_for
from testbed.workload.interests import Interests

SCRIBE, TAMARA, SC, KMEANS = "scribe", "tamara", "sc", "kmeans"
NAMES = {SCRIBE: "Scribe", TAMARA: "Tamara", "tamara+": "Tamara+", SC: "SC", KMEANS: "K-means"}
FROZEN = ClusteringSettings(adapt=False)
Matrix = NDArray[np.float64]


def play(work: Workload, settings: ClusteringSettings, seed: int, points: int) -> Iterator[Row]:
    """One system through the operations; messages count from the first of them."""
    still = structs.replace(settings, adapt=False)
    timeline = Timeline(work.frequencies, work.users, still, seed)
    system = timeline.system
    for group in work.groups:
        topics = sum(1 << topic for topic in group)
        system.open(system.topic_identities[min(group)], topics, np.zeros_like(system.held.words[0]))
    for user, wanted in enumerate(work.before or ()):
        for topic in wanted:
            timeline.apply(Operation(0.0, user, topic, True))
    system.messages.clear()
    system.settings = settings
    timeline.next_round = float(settings.cadence)
    yield {"at": 0.0, **timeline.row()}
    yield from timeline.run(work.operations, work.period, points)


def k_means(
    wanted: Interests, frequencies: list[float], costs: Costs, seed: int, largest: int, restarts: int
) -> tuple[Overall, int]:
    """The best of k = 5 to `largest` with so many restarts, by overall cost, and its k.

    Topics are points in the space of users. Distances between n points are those in a space of n - 1
    dimensions, so they are turned there first: the same clusters, much faster.
    """
    vectors = np.zeros((len(frequencies), len(wanted)))
    for user, topics in enumerate(wanted):
        vectors[topics, user] = 1
    left, scale, _ = np.linalg.svd(vectors, full_matrices=False)
    turned, interested = left * scale, vectors.astype(bool)
    tries = [(k, restart) for k in range(5, largest + 1) for restart in range(restarts)]
    random = np.random.default_rng(seed_for(seed, "k-means"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an empty cluster is one fewer
        found = [
            (kmeans2(turned, k, minit="++", rng=random)[1], k) for k, _ in tries if k <= len(frequencies)
        ]
    costed = [(placed(labels, interested, frequencies, costs), k) for labels, k in found]
    return min(costed, key=lambda one: one[0].cost)


def placed(
    labels: NDArray[np.int64], interested: NDArray[np.bool_], frequencies: list[float], costs: Costs
) -> Overall:
    """Disjoint clusters, users placed by the rule of section 4: by each cluster alone, since none shares a
    topic with another. What a user saves is taken at the sizes before anybody moved."""
    rates, channels = np.array(frequencies), []
    for label in np.unique(labels):
        topics = np.flatnonzero(labels == label)
        wants, frequency = interested[topics], float(rates[topics].sum())
        sizes = wants.sum(axis=1)
        freed = np.array(
            [subscribing.freed(costs, float(rates[t]), int(n)) for t, n in zip(topics, sizes, strict=True)]
        )
        entered = costs.channel(frequency, 1) - costs.channel(frequency, 0)
        members = (freed @ wants > entered + TIE) & (len(topics) > 1)
        rest = (wants & ~members).sum(axis=1)
        channels += [Channel(float(rates[t]), int(n)) for t, n in zip(topics, rest, strict=True)]
        if members.any():
            channels.append(Channel(frequency, int(members.sum()), len(topics)))
    return overall(costs, channels)
