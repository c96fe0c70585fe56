"""What users want and how it changes, in the order of time: the same for every system.

A row is one request of one user: its topics before and after, the topic it lost and the one it gained. Topics
are numbers; rows of topics are sorted and filled up with the number that no topic has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from testbed.workload.checkins import Visits
from testbed.workload.topic_changes import Changes

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
NONE = -1


@dataclass(frozen=True, eq=False)
class Story:
    """`first[u]`: topics at the start, none for who comes later. `region[i]`: where the user is then, and
    `published[i]`: the topic of the event that it publishes; both may be `NONE`.
    """

    topics: int
    first: Ints
    hour: Floats
    user: Ints
    before: Ints
    after: Ints
    lost: Ints
    gained: Ints
    region: Ints
    published: Ints

    @property
    def users(self) -> int:
        return len(self.first)

    @cached_property
    def size(self) -> Ints:
        """Of the sets after each request."""
        return np.asarray((self.after < self.topics).sum(axis=1), dtype=np.int32)


def of_changes(start: Ints, changes: Changes, topics: int) -> Story:
    """Users who replace one of their topics; the changes of a step come at its beginning."""
    nothing = np.full(changes.user.size, NONE, np.int32)
    return _story(
        start, topics, changes.step.astype(np.float64), changes.user, changes.slot, changes.new, nothing,
        nothing,
    )  # fmt: skip


def of_visits(visits: Visits, friends: Ints, cells: int) -> Story:
    """Users who follow the cells of their friends and their own: every visit is told by the user, who
    publishes it on the topic of its cell, and by all who follow it. A user comes with its first visit.
    """
    users, each = friends.shape
    order = np.argsort(visits.begin, kind="stable")
    who, cell, hour = visits.user[order], visits.cell[order], 24.0 * visits.begin[order]
    followers, first, count = _followers(friends)
    lengths = 1 + count[who]
    visit = np.repeat(np.arange(who.size), lengths)
    nth = np.arange(visit.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    own = nth == 0
    follower = followers[np.where(own, 0, first[who[visit]] + nth - 1)]
    user = np.where(own, who[visit], follower // each).astype(np.int32)
    slot = np.where(own, 0, 1 + follower % each).astype(np.int32)
    start = np.full((users, each + 1), NONE, np.int32)
    there = np.where(own, cell[visit], NONE).astype(np.int32)
    return _story(start, cells, hour[visit], user, slot, cell[visit], there, there)


def _followers(friends: Ints) -> tuple[Ints, Ints, Ints]:
    """(user * each + slot) of all who follow a user, from where, and how many."""
    flat = friends.reshape(-1)
    order = np.argsort(flat, kind="stable").astype(np.int32)
    count = np.bincount(flat, minlength=len(friends)).astype(np.int32)
    return order, (np.cumsum(count) - count).astype(np.int32), count


def _story(
    start: Ints, topics: int, hour: Floats, user: Ints, slot: Ints, new: Ints, region: Ints, published: Ints
) -> Story:
    before, after = _sets(start, user, slot, new)
    comes = (start[user, 0] == NONE) & (before[:, 0] == NONE)
    before[comes] = NONE  # who is not there has no broker to tell
    there = after[:, 0] != NONE
    old = before[np.arange(user.size), slot]
    lost = np.where(_without(before, slot, old), old, NONE)
    gained = np.where((before == new[:, None]).any(axis=1), NONE, new)
    lost = np.where(old == new, NONE, lost)
    kept = there & ((lost != NONE) | (gained != NONE) | (region != NONE))
    columns = (hour, user, _rows(before, topics), _rows(after, topics), lost, gained, region, published)
    chosen = (column[kept] for column in columns)
    return Story(topics, _rows(start, topics), *chosen)


def _without(before: Ints, slot: Ints, old: Ints) -> npt.NDArray[np.bool_]:
    """Whether no other slot has the topic."""
    same = before == old[:, None]
    return np.asarray(same.sum(axis=1) == 1)


def _sets(start: Ints, user: Ints, slot: Ints, new: Ints) -> tuple[Ints, Ints]:
    """What each slot of the user held before and after: of each user the last one written, by slot."""
    order = np.argsort(user, kind="stable")
    place, owner, written = slot[order], user[order], new[order]
    row = np.arange(user.size)
    begins = np.zeros(user.size, np.int64)
    fresh = np.flatnonzero(np.diff(owner, prepend=-1))
    begins[fresh] = fresh
    begins = np.maximum.accumulate(begins)
    after = np.empty((user.size, start.shape[1]), np.int32)
    for one in range(start.shape[1]):
        last = np.maximum.accumulate(np.where(place == one, row, -1))
        known = last >= begins
        after[order, one] = np.where(known, written[np.maximum(last, 0)], start[owner, one])
    before = np.empty_like(after)
    before[order[1:]] = after[order[:-1]]
    before[order[fresh]] = start[owner[fresh]]
    return before, after


def _rows(sets: Ints, topics: int) -> Ints:
    """Sorted, each topic once, filled up."""
    found = np.sort(np.where(sets == NONE, topics, sets), axis=1)
    twice = np.zeros(found.shape, bool)
    twice[:, 1:] = found[:, 1:] == found[:, :-1]
    return np.sort(np.where(twice, topics, found), axis=1).astype(np.int32)


def start_of(story: Story) -> Story:
    """The arrival of those who are there at the start, one after the other."""
    users = np.arange(story.users, dtype=np.int32)
    nobody = np.full(story.users, NONE, np.int32)
    nothing = np.full_like(story.first, story.topics)
    return Story(
        story.topics, story.first, np.zeros(story.users), users, nothing, story.first, nobody, nobody, nobody,
        nobody,
    )  # fmt: skip
