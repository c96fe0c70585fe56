"""The users of one broker: what they want, the trees it is in for them, requests that are repeated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from broker_grpc.protocols.clustering.directory import Directory
from broker_grpc.protocols.clustering.messages import (
    Address,
    Declare,
    Held,
    Leave,
    Message,
    Redirect,
    Release,
    Withdraw,
)
from broker_grpc.protocols.clustering.options import TamaraSettings
from broker_grpc.protocols.clustering.subscriber import Interest, Membership, Subscriber
from broker_grpc.protocols.clustering.timers import Timers

OUTSIDE = Address("user", 0)
UNSAID = (Held, Redirect)  # they expect nothing of who has gone meanwhile


class Host(Protocol):
    """The broker."""

    @property
    def id(self) -> str: ...

    @property
    def now_us(self) -> int: ...

    def say(self, sender: Address, to: Address, message: Message) -> None: ...

    def enter_tree(self, tree: str) -> None: ...

    def leave_tree(self, tree: str) -> None: ...


class Users:
    def __init__(self, host: Host, names: Directory, settings: TamaraSettings) -> None:
        self.subscribers: dict[Address, Subscriber] = {}
        self._host, self._names, self._settings = host, names, settings
        self._declared: dict[str, frozenset[str]] = {}
        self._channels: dict[Address, set[Address]] = {}  # user -> channels
        self._in: dict[str, set[Address]] = {}  # tree -> users
        self._timers: Timers[tuple[str, Address | str]] = Timers()

    # ------------------------------------------------------------ interests and messages

    def wanted(self, wanted: Mapping[str, frozenset[str]]) -> None:
        """By user: what they want now."""
        for name in sorted(wanted.keys() | self._declared.keys()):
            self._want(name, self._declared.get(name, frozenset()), wanted.get(name, frozenset()))
        self._declared = dict(wanted)

    def _want(self, name: str, old: frozenset[str], new: frozenset[str]) -> None:
        if old == new:
            return
        user = self._names.user(name, self._host.id)
        for topic in sorted(new - old):
            self._handle(user, OUTSIDE, Declare(self._names.topic(topic).identity))
        for topic in sorted(old - new):
            self._handle(user, OUTSIDE, Withdraw(self._names.topic(topic).identity))

    def take(self, sender: Address, to: Address, message: Message) -> None:
        if to in self.subscribers:
            self._handle(to, sender, message)
        elif not isinstance(message, UNSAID):
            self._host.say(to, sender, Release() if sender.kind == "topic" else Leave())

    def _handle(self, user: Address, sender: Address, message: Message) -> None:
        subscriber = self.subscribers.get(user)
        if subscriber is None:
            settings, draws = self._settings.clustering, self._settings.draws
            subscriber = self.subscribers[user] = Subscriber(user.identity, settings, draws)
        said = subscriber.handle(sender, message)
        self._place(user, subscriber.channels())  # into a tree before its channel hears of it
        for to, what in said:
            self._host.say(user, to, what)
        self._watch(user, subscriber)

    # ------------------------------------------------------------ trees

    def _place(self, user: Address, channels: set[Address]) -> None:
        """A tree is left later than its channel: events are under way in it."""
        before = self._channels.get(user, set())
        for channel in sorted(channels - before):
            tree = self._names.tree(channel)
            users = self._in.setdefault(tree, set())
            if not users and not self._timers.cancel(("leave", tree)):
                self._host.enter_tree(tree)
            users.add(user)
        for channel in sorted(before - channels):
            tree = self._names.tree(channel)
            self._in[tree].discard(user)
            if not self._in[tree]:
                self._timers.set(("leave", tree), self._host.now_us + self._settings.linger_us)
        self._channels[user] = channels

    # ------------------------------------------------------------ time

    def next_us(self) -> int | None:
        return self._timers.next_us()

    def deadline(self, now_us: int) -> None:
        for what, whom in self._timers.due(now_us):
            if isinstance(whom, str):
                self._host.leave_tree(whom)
                del self._in[whom]
            elif whom in self.subscribers:
                self._repeat(whom, self.subscribers[whom], what)

    def _repeat(self, user: Address, subscriber: Subscriber, what: str) -> None:
        said = subscriber.unanswered() if what == "retry" else subscriber.confirmed()
        for to, message in said:
            self._host.say(user, to, message)
        self._watch(user, subscriber)

    def _watch(self, user: Address, subscriber: Subscriber) -> None:
        """Requests have their patience; who wants nothing and is nowhere is forgotten."""
        now_us, timers = self._host.now_us, self._timers
        if not subscriber.wants_anything and not self._channels[user]:
            del self.subscribers[user], self._channels[user]
            timers.cancel(("retry", user))
            timers.cancel(("refresh", user))
            return
        if subscriber.unanswered():
            timers.begin(("retry", user), now_us + self._settings.patience_us)
        else:
            timers.cancel(("retry", user))
        timers.begin(("refresh", user), self._next_refresh(user))

    def _next_refresh(self, user: Address) -> int:
        period_us = self._settings.refresh * self._settings.heartbeat_interval_us
        return (self._host.now_us // period_us + 1) * period_us + (period_us * user.identity >> 64)

    # ------------------------------------------------------------ questions

    @property
    def settled(self) -> bool:
        return not any(map(_waits, self.subscribers.values()))


def _waits(subscriber: Subscriber) -> bool:
    rest = (Interest.OUT, Interest.DIRECT, Interest.COVERED)
    inside = (Membership.OUT, Membership.IN)
    return any(state not in rest for state in subscriber.interests.values()) or any(
        state not in inside for state in subscriber.memberships.values()
    )
