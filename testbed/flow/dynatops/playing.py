"""Lets users ask and networks look, in the order of time.

Brokers tell their clusters (`update` hours), requests are served, time slots are measured (`slot` hours), and
managers reconfigure after their own periods.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from testbed.flow.dynatops.hosting import Hosting, Turnover
from testbed.flow.dynatops.measuring import Slot
from testbed.flow.dynatops.network import Network
from testbed.flow.dynatops.similar import Placement
from testbed.flow.dynatops.story import Floats, Ints, Story

Serve = Callable[[Hosting, slice], None]
Look = Callable[[Hosting, "Published"], Slot]


@dataclass
class Published:
    """Events of a slot that have a publisher: broker, user and topic of each."""

    broker: Ints
    user: Ints
    topic: Ints


@dataclass(frozen=True)
class Course:
    hours: int
    update: int  # hours: T_update; where nobody tells anybody, the slot
    slot: int  # a multiple of it


@dataclass
class Played:
    """What the placement took."""

    telling: int = 0  # messages within clusters
    handovers: int = 0
    requests: int = 0
    changes: int = 0  # brokers that subscribed or unsubscribed
    load_deviation: list[float] = field(default_factory=list)  # of brokers' user subscriptions, by slot
    load_mean: list[float] = field(default_factory=list)

    def add(self, turnover: Turnover) -> None:
        self.handovers += turnover.handovers
        self.requests += turnover.requests
        self.changes += len(turnover.changed)


def play(
    story: Story, course: Course, hosting: Hosting, serve: Serve, look: Look, networks: Sequence[Network],
    placement: Placement | None = None,
) -> Played:  # fmt: skip
    """Of whoever is placed already nothing is counted any more."""
    hosting.take_turnover()
    played = Played()
    starts = np.searchsorted(story.hour, np.arange(0, course.hours + 1, course.update))
    published: list[Published] = []
    for hour, begin, end in zip(
        range(course.update, course.hours + 1, course.update), starts, starts[1:], strict=False
    ):
        rows = slice(int(begin), int(end))
        if placement is not None:
            placement.tell(hosting)
            played.telling += placement.clusters.telling
        serve(hosting, rows)
        turnover = hosting.take_turnover()
        played.add(turnover)
        for network in networks:
            network.subscriptions_changed(turnover.changed)
        published.append(_published(story, rows, turnover))
        if hour % course.slot == 0:
            slot = look(hosting, _together(published))
            published.clear()
            for network in networks:
                network.slot_over(slot)
            played.load_deviation.append(float(np.std(hosting.load)))
            played.load_mean.append(float(np.mean(hosting.load)))
        for network in networks:
            if network.manager is not None and hour % network.manager.period == 0:
                network.period_over(hour, hosting.users > 0)
    return played


def _published(story: Story, rows: slice, turnover: Turnover) -> Published:
    topic = story.published[rows]
    chosen = topic >= 0
    broker = np.array(turnover.served_by, np.int32)
    return Published(broker[chosen], story.user[rows][chosen], topic[chosen])


def _together(parts: Sequence[Published]) -> Published:
    return Published(
        np.concatenate([one.broker for one in parts]),
        np.concatenate([one.user for one in parts]),
        np.concatenate([one.topic for one in parts]),
    )


def by_anybody(events: Floats) -> Look:
    """So many events of each topic in every slot, from a user like any other."""

    def look(hosting: Hosting, published: Published) -> Slot:
        there = np.bincount([at for at in hosting.at if at >= 0], minlength=hosting.brokers)
        return Slot(hosting.users.copy(), np.outer(there / max(there.sum(), 1), events))

    return look


def by_visitors(access: Floats, region: Ints, weight: float = 1.0) -> Look:
    """The events that users published, with the delays between users where they are and their brokers
    (`access[b, cell]`; `region[u]` is kept by whoever serves). Each visit is so many events (`weight`).
    """

    def look(hosting: Hosting, published: Published) -> Slot:
        made = np.zeros((hosting.brokers, hosting.topics))
        np.add.at(made, (published.broker, published.topic), weight)
        users = hosting.users.copy()
        events = made.sum(axis=0)
        deliveries = users.sum(axis=0)
        up = weight * float(access[published.broker, published.topic] @ deliveries[published.topic])
        wanted = np.append(events, 0.0)[hosting.sets].sum(axis=1)
        at = np.array(hosting.at)
        there = at >= 0
        down = float(access[at[there], region[there]] @ wanted[there])
        return Slot(users, made, up, down)

    return look
