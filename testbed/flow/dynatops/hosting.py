"""Which broker has which user, and which brokers therefore subscribe to what.

Requests come one after the other: a user stays, and its broker takes note, or it is handed over with all its
topics. A broker subscribes with its first user of a topic and unsubscribes with the last one.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np

from testbed.flow.dynatops.story import NONE, Ints, Story


@dataclass
class Turnover:
    """Since it was last taken."""

    handovers: int = 0
    requests: int = 0
    served_by: list[int] = field(default_factory=list)  # the broker of each request's user after it
    changed: list[int] = field(default_factory=list)  # 2 (broker * topics + topic), + 1 when it subscribed


class Hosting:
    def __init__(self, story: Story, brokers: int) -> None:
        self.topics, self.brokers = story.topics, brokers
        self.at = [NONE] * story.users
        self.sets = np.full_like(story.first, story.topics)  # of the users, as last told
        self.load = [0] * brokers  # users' subscriptions
        self._counts = array("i", bytes(4 * brokers * story.topics))
        self.turnover = Turnover()

    @property
    def users(self) -> Ints:
        """[b, t]: users of this broker with this topic."""
        return np.frombuffer(self._counts, np.int32).reshape(self.brokers, self.topics)

    def take_turnover(self) -> Turnover:
        taken, self.turnover = self.turnover, Turnover()
        return taken

    # ------------------------------------------------------------ users

    def take_in(self, broker: int, topics: list[int]) -> None:
        base, counts, changed, number = broker * self.topics, self._counts, self.turnover.changed, self.topics
        for topic in topics:
            if topic == number:
                break
            counts[base + topic] += 1
            self.load[broker] += 1
            if counts[base + topic] == 1:
                changed.append(2 * (base + topic) + 1)

    def let_go(self, broker: int, topics: list[int]) -> None:
        base, counts, changed, number = broker * self.topics, self._counts, self.turnover.changed, self.topics
        for topic in topics:
            if topic == number:
                break
            counts[base + topic] -= 1
            self.load[broker] -= 1
            if not counts[base + topic]:
                changed.append(2 * (base + topic))

    def own(self, broker: int, topics: list[int], held: list[int], with_user: bool) -> int:
        """How many of the topics the broker subscribes to, for others than this user or for anybody."""
        base, counts = broker * self.topics, self._counts
        if with_user:
            return sum(counts[base + topic] > 0 for topic in topics if topic != self.topics)
        return sum(counts[base + topic] > (topic in held) for topic in topics if topic != self.topics)

    # ------------------------------------------------------------ requests

    def assigned(self, story: Story, rows: slice, wanted: Ints) -> None:
        """Every request of a user whose broker follows from who or where it is."""
        columns = (
            story.user[rows], wanted, story.lost[rows], story.gained[rows], story.before[rows],
            story.after[rows],
        )  # fmt: skip
        for user, target, lost, gained, before, after in zip(*(c.tolist() for c in columns), strict=True):
            self.served(user, target, lost, gained, before, after)
        self.told(story, rows)

    def told(self, story: Story, rows: slice) -> None:
        self.sets[story.user[rows]] = story.after[rows]

    def served(
        self, user: int, target: int, lost: int, gained: int, before: list[int], after: list[int]
    ) -> None:
        """The user is at its target, with the topics that it has now."""
        at, turnover = self.at[user], self.turnover
        turnover.requests += 1
        turnover.served_by.append(target)
        if at == target:
            if lost >= 0:
                self.let_go(at, [lost])
            if gained >= 0:
                self.take_in(at, [gained])
            return
        if at != NONE:
            turnover.handovers += 1
            self.let_go(at, before)
        self.at[user] = target
        self.take_in(target, after)
