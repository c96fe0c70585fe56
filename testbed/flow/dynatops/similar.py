"""User placement (section 4) for many requests at once.

What the brokers of a cluster told last is the same for all requests until they tell again, so the best two of
each request are found for all of them together; only the current broker, which knows itself as it is now, is
looked at request by request. `user_placement.best_broker` decides the same; a test holds one against the
other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from testbed.flow.dynatops.hosting import Hosting
from testbed.flow.dynatops.story import NONE, Ints, Story

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Clusters:
    """`of[b]`: the cluster of a broker; `members[k]`: its brokers in the order of their numbers, filled up
    with `NONE`.
    """

    of: Ints
    members: Ints

    @property
    def telling(self) -> int:
        """Messages of one exchange: each to all others of its cluster."""
        sizes = (self.members != NONE).sum(axis=1)
        return int((sizes * (sizes - 1)).sum())


def clusters_of(of: Ints) -> Clusters:
    groups = [np.flatnonzero(of == k) for k in range(int(of.max(initial=-1)) + 1)]
    members = np.full((len(groups), max(map(len, groups), default=0)), NONE, np.int32)
    for k, group in enumerate(groups):
        members[k, : len(group)] = group
    return Clusters(of, members)


class Placement:
    """`load_weight` is w_l. `share_of`: whose subscriptions a broker's load is a share of. `with_user`: a
    broker counts the asking user's own topics as its own.
    """

    def __init__(
        self, clusters: Clusters, load_weight: float, share_of_all: bool = False, with_user: bool = False
    ) -> None:
        self.clusters, self.load_weight = clusters, load_weight
        self._share_of_all, self._with_user = share_of_all, with_user
        self._subscribed = np.zeros((0, 0), bool)
        self._told = self._loads = np.zeros(0)
        self.total: Floats = np.zeros(0)  # [k]: what loads of a cluster are divided by

    def tell(self, hosting: Hosting) -> None:
        """Every broker tells its cluster what it subscribes to, and its load."""
        self._subscribed = np.zeros((hosting.brokers + 1, hosting.topics + 1), bool)
        self._subscribed[:-1, :-1] = hosting.users > 0
        self._told = np.array([*hosting.load, 0], np.float64)
        by_cluster = self._told[self.clusters.members].sum(axis=1)
        self.total = np.full_like(by_cluster, by_cluster.sum()) if self._share_of_all else by_cluster
        self.total = np.maximum(self.total, 1.0)

    def serve(self, hosting: Hosting, story: Story, rows: slice, cluster: Ints) -> None:
        """`cluster[i]`: the one whose brokers the request may go to."""
        best, other, value, next_value = self._best_two(story.after[rows], story.size[rows], cluster)
        columns = (
            story.user[rows], story.lost[rows], story.gained[rows], story.before[rows], story.after[rows],
            story.size[rows], cluster, best, other, value, next_value,
        )  # fmt: skip
        rest = self.total.tolist()
        of = self.clusters.of.tolist()
        for user, lost, gained, before, after, size, k, first, second, most, less in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            at = hosting.at[user]
            target = first
            if at >= 0 and of[at] == k:
                if first == at:
                    target, most = second, less
                alike = hosting.own(at, after, before, self._with_user) / size
                if target < 0 or alike - self.load_weight * (hosting.load[at] / rest[k]) >= most:
                    target = at
            hosting.served(user, target, lost, gained, before, after)
        hosting.told(story, rows)

    def _best_two(self, wanted: Ints, size: Ints, cluster: Ints) -> tuple[Ints, Ints, Floats, Floats]:
        """By what was told: the best, the best of the others, both the smallest of equals, and what they are
        worth.
        """
        members = self.clusters.members[cluster]
        found = self._subscribed[members[:, :, None], wanted[:, None, :]].sum(axis=2)
        load = self._told[members] / self.total[cluster][:, None]
        utility = found / size[:, None] - self.load_weight * load
        utility[members == NONE] = -np.inf
        rows = np.arange(len(members))
        at = utility.argmax(axis=1)
        first, most = members[rows, at], utility[rows, at]
        utility[rows, at] = -np.inf
        at = utility.argmax(axis=1)
        second = np.where(np.isfinite(utility[rows, at]), members[rows, at], NONE)
        return first, second, most, utility[rows, at]
