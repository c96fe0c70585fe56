"""A subscriber: what it wants, how it gets it, and what it delivers (section 4).

Each topic is in one state for it. A cluster counts as delivering from Entered until the user will leave it.
Who moves takes the new first and gives the old up when the new is confirmed; what comes twice meanwhile is
known by its id.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto

from broker_grpc.core.seen import SeenIds
from broker_grpc.protocols.clustering.entity import Entity
from broker_grpc.protocols.clustering.messages import (
    Address,
    Ask,
    Associated,
    Declare,
    Destroyed,
    Enter,
    Entered,
    Event,
    Held,
    Hold,
    Leave,
    Message,
    OverlapAnswer,
    OverlapAsk,
    Redirect,
    Release,
    Resubscribe,
    Sent,
    Survey,
    SurveyAnswer,
    TopicAdded,
    TopicRemoved,
    TopicSubscribed,
    TopicUnsubscribed,
    Withdraw,
)
from broker_grpc.protocols.clustering.settings import ClusteringSettings
from broker_grpc.protocols.clustering.subscribing import freed, fullest, joins, leaves

REMEMBERED = 100_000  # ids of events


class Interest(Enum):
    OUT = auto()  # of no interest
    ASKING = auto()  # which clusters have it?
    ENTERING = auto()  # a cluster for it
    HOLDING = auto()  # a direct subscription that is not confirmed
    DIRECT = auto()
    COVERED = auto()  # by a cluster


class Membership(Enum):
    OUT = auto()
    ENTERING = auto()
    IN = auto()
    LEAVING = auto()  # when what is taken instead is confirmed


DIRECTLY = (Interest.HOLDING, Interest.DIRECT)


class Subscriber(Entity):
    def __init__(self, identity: int, settings: ClusteringSettings, seed: int) -> None:
        super().__init__(Address("user", identity), settings, seed)
        self.interests: dict[int, Interest] = {}
        self.memberships: dict[int, Membership] = {}
        self.content: dict[int, dict[int, float]] = {}  # of clusters it is in
        self.sizes: dict[int, int] = {}  # of channels, as last told
        self.frequencies: dict[int, float] = {}
        self.entering_for: dict[int, set[int]] = {}  # cluster -> topics that wait for it
        self.replaces: dict[int, set[int]] = {}  # cluster being entered -> clusters to leave then
        self.instead: dict[int, set[int]] = {}  # cluster being left -> topics to be confirmed before
        self.telling: set[int] = set()  # topics that are new: when held, a cluster is told
        self.delivered: list[str] = []
        self._seen = SeenIds(REMEMBERED)

    def state_for(self, sender: Address, message: Message) -> Enum:
        if message.subject is not None:
            return self.interest(message.subject)
        if sender.kind == "cluster":
            return self.membership(sender.identity)
        return self.interest(sender.identity)

    def interest(self, topic: int) -> Interest:
        return self.interests.get(topic, Interest.OUT)

    def membership(self, cluster: int) -> Membership:
        return self.memberships.get(cluster, Membership.OUT)

    def covering(self, topic: int) -> list[int]:
        """Clusters that deliver it, lowest identity first."""
        return [c for c in sorted(self.content) if self._counts(c) and topic in self.content[c]]

    def _counts(self, cluster: int) -> bool:
        return self.membership(cluster) is Membership.IN

    # ---------------------------------------------------------------- interests

    def declare(self, sender: Address, message: Declare) -> None:
        self._want(message.topic, new=True)

    def _want(self, topic: int, new: bool = False) -> None:
        if self.covering(topic):
            self.interests[topic] = Interest.COVERED
            return
        if new:
            self.telling.add(topic)
        self.interests[topic] = Interest.ASKING
        self.send(Address("topic", topic), Ask())

    def associated(self, sender: Address, message: Associated) -> None:
        topic = sender.identity
        self.frequencies[topic] = message.frequency
        if self.covering(topic):
            self.interests[topic] = Interest.COVERED
            return
        chosen = self._worth_entering(topic, message)
        if chosen is None or self.membership(chosen) in (Membership.IN, Membership.LEAVING):
            self._hold(topic)  # what the channel knows of that cluster is not what the user knows
        else:
            self.interests[topic] = Interest.ENTERING
            self.entering_for.setdefault(chosen, set()).add(topic)
            self._enter(chosen)

    def _worth_entering(self, topic: int, message: Associated) -> int | None:
        if not message.clusters:
            return None
        mine = {t for t, state in self.interests.items() if state in DIRECTLY} | {topic}
        overlaps = {c: len(mine & topics.keys()) for c, (topics, _) in message.clusters.items()}
        chosen = fullest(overlaps, {c: c for c in overlaps})
        topics, size = message.clusters[chosen]
        direct = self._direct_cost(mine & topics.keys())
        enters = joins(self.costs, size, sum(topics.values()), direct)
        return chosen if enters else None

    def _direct_cost(self, topics: Iterable[int], more: int = 0) -> float:
        known = ((self.frequencies[t], max(1, self.sizes.get(t, 1) + more)) for t in topics)
        return sum(freed(self.costs, frequency, size) for frequency, size in known)

    def _hold(self, topic: int) -> None:
        self.interests[topic] = Interest.HOLDING
        self.send(Address("topic", topic), Hold())

    def held(self, sender: Address, message: Held) -> None:
        topic = sender.identity
        self.frequencies[topic], self.sizes[topic] = message.frequency, message.size
        self.interests[topic] = Interest.DIRECT
        self._confirmed(topic)
        if self.covering(topic):
            self._release(topic)
        elif topic in self.telling:
            self._tell_a_cluster(topic)
        self.telling.discard(topic)

    def held_late(self, sender: Address, message: Held) -> None:
        """The interest is lost, and the release is on its way."""

    def _release(self, topic: int) -> None:
        """A cluster delivers it."""
        self.interests[topic] = Interest.COVERED
        self.send(Address("topic", topic), Release())

    def _tell_a_cluster(self, topic: int) -> None:
        """The one with most filtered-out topics."""
        mine = [c for c in self.content if self._counts(c)]
        if self.settings.adapt and mine:
            out = {c: sum(self.interest(t) is Interest.OUT for t in self.content[c]) for c in mine}
            told = fullest(out, {c: c for c in mine})
            message = TopicSubscribed(topic, self.frequencies[topic], self.sizes[topic])
            self.send(Address("cluster", told), message)

    # ---------------------------------------------------------------- interests that are lost

    def withdraw_early(self, sender: Address, message: Withdraw) -> None:
        """Before it was settled how to get it: a cluster that was to be entered for it is weighed then."""
        self.interests[message.topic] = Interest.OUT
        self.telling.discard(message.topic)
        for waiting in self.entering_for.values():
            waiting.discard(message.topic)

    def withdraw_direct(self, sender: Address, message: Withdraw) -> None:
        self.withdraw_early(sender, message)
        self.send(Address("topic", message.topic), Release())
        self._confirmed(message.topic)

    def withdraw_covered(self, sender: Address, message: Withdraw) -> None:
        topic = message.topic
        self.interests[topic] = Interest.OUT
        for cluster in self.covering(topic):
            if not self._left(cluster) and self.settings.adapt:
                self.send(Address("cluster", cluster), TopicUnsubscribed(topic))

    def _left(self, cluster: int) -> bool:
        """Whether it is not worth staying; what is still wanted is taken directly, then the cluster left."""
        content = self.content[cluster]
        wanted = [t for t in sorted(content) if self.interest(t) is not Interest.OUT]
        rest = [t for t in wanted if self.covering(t) == [cluster]]
        direct = self._direct_cost(rest, 1)
        if not leaves(self.costs, max(1, self.sizes.get(cluster, 1)), sum(content.values()), direct):
            return False
        self._give_up(cluster, rest)
        return True

    def _give_up(self, cluster: int, rest: list[int]) -> None:
        self.memberships[cluster] = Membership.LEAVING
        taken = [t for t in rest if self.interest(t) is Interest.COVERED]
        self.instead[cluster] = set(taken)
        self.telling.difference_update(taken)
        for topic in taken:
            self._hold(topic)
        self._leave_if_ready(cluster)

    def _confirmed(self, topic: int) -> None:
        for cluster in sorted(self.instead):
            self.instead[cluster].discard(topic)
            self._leave_if_ready(cluster)

    def _leave_if_ready(self, cluster: int) -> None:
        if not self.instead[cluster]:
            del self.instead[cluster]
            self._leave(cluster)

    def _leave(self, cluster: int) -> None:
        self._forget(cluster)
        self.send(Address("cluster", cluster), Leave())

    def _forget(self, cluster: int) -> None:
        self.memberships.pop(cluster, None)
        self.content.pop(cluster, None)
        self.instead.pop(cluster, None)

    # ---------------------------------------------------------------- clusters

    def _enter(self, cluster: int) -> None:
        if self.membership(cluster) is Membership.OUT:
            self.memberships[cluster] = Membership.ENTERING
            self.send(Address("cluster", cluster), Enter())

    def entered(self, sender: Address, message: Entered) -> None:
        cluster = sender.identity
        self.memberships[cluster] = Membership.IN
        self.content[cluster], self.sizes[cluster] = dict(message.topics), message.size
        self.frequencies.update(message.topics)
        waiting = self.entering_for.pop(cluster, set())
        for topic in sorted(message.topics):
            if self.interest(topic) is Interest.DIRECT:
                self._release(topic)
            elif self.interest(topic) is Interest.ENTERING:
                self.interests[topic] = Interest.COVERED
        for topic in sorted(waiting - message.topics.keys()):
            self._want(topic)
        self._replace_all(self.replaces.pop(cluster, set()))
        if not any(self.interest(t) is not Interest.OUT for t in message.topics):
            self._left(cluster)

    def _replace_all(self, replaced: set[int]) -> None:
        """What only an old one delivers is taken directly first: a topic that came to it meanwhile."""
        for old in sorted(replaced):
            if self._counts(old):
                self._give_up(old, [t for t in sorted(self.content[old]) if self.covering(t) == [old]])

    def redirected(self, sender: Address, message: Redirect) -> None:
        """Without a successor, what waits for the cluster is taken directly: its topics' channels may name it
        for a while yet."""
        cluster = sender.identity
        waiting, replaced = self.entering_for.pop(cluster, set()), self.replaces.pop(cluster, set())
        self._forget(cluster)
        if message.successor is None:
            for topic in sorted(waiting):
                self._take(topic)
            self._replace_all(replaced)
            return
        self.entering_for.setdefault(message.successor, set()).update(waiting)
        self.replaces.setdefault(message.successor, set()).update(replaced)
        if self.membership(message.successor) is Membership.IN:
            for topic in sorted(self.entering_for.pop(message.successor)):
                self._want(topic)
            self._replace_all(self.replaces.pop(message.successor))
        self._enter(message.successor)

    def _take(self, topic: int) -> None:
        if self.covering(topic):
            self.interests[topic] = Interest.COVERED
        else:
            self._hold(topic)

    def entered_again(self, sender: Address, message: Entered) -> None:
        """The cluster has other topics than was told: a message was lost, or the cluster."""
        before = self.content[sender.identity]
        self.content[sender.identity], self.sizes[sender.identity] = dict(message.topics), message.size
        self.frequencies.update(message.topics)
        for topic in sorted(message.topics):
            if self.interest(topic) is Interest.DIRECT and self.covering(topic):
                self._release(topic)
        self._take_uncovered(sorted(before.keys() - message.topics.keys()))

    def redirected_member(self, sender: Address, message: Redirect) -> None:
        """It was merged or destroyed, and that was not heard."""
        if message.successor is None:
            self.destroyed(sender, Destroyed())
        else:
            self.resubscribe(sender, Resubscribe(message.successor))

    def resubscribe(self, sender: Address, message: Resubscribe) -> None:
        """From a cluster it is in, or from a topic that it holds, to the cluster that takes its place."""
        if sender.kind == "cluster":
            self.replaces.setdefault(message.cluster, set()).add(sender.identity)
        if self.membership(message.cluster) is Membership.IN:
            self._replace_all(self.replaces.pop(message.cluster, set()))
        self._enter(message.cluster)

    def topic_added(self, sender: Address, message: TopicAdded) -> None:
        self.content[sender.identity][message.topic] = message.frequency
        self.frequencies[message.topic] = message.frequency
        if self.interest(message.topic) is Interest.DIRECT and self.covering(message.topic):
            self._release(message.topic)

    def topic_removed(self, sender: Address, message: TopicRemoved) -> None:
        self.content[sender.identity].pop(message.topic, None)
        self._take_uncovered([message.topic])

    def destroyed(self, sender: Address, message: Destroyed) -> None:
        content = self.content.get(sender.identity, {})
        self._forget(sender.identity)
        self._take_uncovered(sorted(content))

    def destroyed_early(self, sender: Address, message: Destroyed) -> None:
        """While it was being entered."""
        self.redirected(sender, Redirect(None))

    def _take_uncovered(self, topics: list[int]) -> None:
        for topic in topics:
            if self.interest(topic) is Interest.COVERED and not self.covering(topic):
                self.telling.discard(topic)
                self._hold(topic)

    # ---------------------------------------------------------------- what is lost on the way

    def unanswered(self) -> list[Sent]:
        """Requests without an answer so far; to repeat one does no harm."""
        asked = {Interest.ASKING: Ask(), Interest.HOLDING: Hold()}
        topics = [
            Sent(Address("topic", t), asked[state])
            for t, state in sorted(self.interests.items())
            if state in asked
        ]
        entering = [c for c, state in sorted(self.memberships.items()) if state is Membership.ENTERING]
        return [*topics, *(Sent(Address("cluster", c), Enter()) for c in entering)]

    def confirmed(self) -> list[Sent]:
        """Its subscriptions, for channels that may have been lost, or that have it wrong."""
        held = [t for t, state in sorted(self.interests.items()) if state is Interest.DIRECT]
        mine = [c for c in sorted(self.content) if self._counts(c)]
        return [
            *(Sent(Address("topic", t), Hold(again=True)) for t in held),
            *(Sent(Address("cluster", c), Enter(dict(self.content[c]))) for c in mine),
        ]

    @property
    def wants_anything(self) -> bool:
        return any(state is not Interest.OUT for state in self.interests.values())

    def channels(self) -> set[Address]:
        """From which it gets events, or soon will."""
        held = {Address("topic", t) for t, state in self.interests.items() if state in DIRECTLY}
        inside = {Address("cluster", c) for c, m in self.memberships.items() if m is not Membership.OUT}
        return held | inside

    # ---------------------------------------------------------------- questions and events

    def survey(self, sender: Address, message: Survey) -> None:
        state = self.interest(message.topic)
        self.send(sender, SurveyAnswer(message.number, state in DIRECTLY, state is not Interest.OUT))

    def overlap(self, sender: Address, message: OverlapAsk) -> None:
        held = frozenset(t for t, state in self.interests.items() if state in DIRECTLY)
        mine = frozenset(c for c in self.content if self._counts(c))
        self.send(sender, OverlapAnswer(message.number, held, mine))

    def event(self, sender: Address, message: Event) -> None:
        if self._seen.is_new(message.id):
            self.delivered.append(message.id)

    def filtered(self, sender: Address, message: Event) -> None:
        """Of no interest: the local filter."""


Subscriber.table = {
    (Interest.OUT, Declare): Subscriber.declare,
    (Interest.OUT, Held): Subscriber.held_late,
    (Interest.OUT, Event): Subscriber.filtered,
    (Interest.ASKING, Associated): Subscriber.associated,
    (Interest.HOLDING, Held): Subscriber.held,
    (Interest.COVERED, Held): Subscriber.held_late,
    (Interest.DIRECT, Resubscribe): Subscriber.resubscribe,
    (Interest.HOLDING, Resubscribe): Subscriber.resubscribe,
    (Interest.ASKING, Withdraw): Subscriber.withdraw_early,
    (Interest.ENTERING, Withdraw): Subscriber.withdraw_early,
    (Interest.HOLDING, Withdraw): Subscriber.withdraw_direct,
    (Interest.DIRECT, Withdraw): Subscriber.withdraw_direct,
    (Interest.COVERED, Withdraw): Subscriber.withdraw_covered,
    (Membership.ENTERING, Entered): Subscriber.entered,
    (Membership.ENTERING, Redirect): Subscriber.redirected,
    (Membership.ENTERING, Destroyed): Subscriber.destroyed_early,
    (Membership.IN, Resubscribe): Subscriber.resubscribe,
    (Membership.IN, Entered): Subscriber.entered_again,
    (Membership.IN, Redirect): Subscriber.redirected_member,
    (Membership.IN, TopicAdded): Subscriber.topic_added,
    (Membership.IN, TopicRemoved): Subscriber.topic_removed,
    (Membership.IN, Destroyed): Subscriber.destroyed,
    (Membership.LEAVING, TopicAdded): Subscriber.topic_added,
    (Membership.LEAVING, TopicRemoved): Subscriber.topic_removed,
    (Membership.LEAVING, Destroyed): Subscriber.destroyed,
    **{(state, Survey): Subscriber.survey for state in Interest},
    **{(state, Event): Subscriber.event for state in Interest if state is not Interest.OUT},
    **{(state, OverlapAsk): Subscriber.overlap for state in (*Interest, *Membership)},
}
