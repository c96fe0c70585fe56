"""What channels of topics and of clusters share: subscribers, samples of overlap, and merging (section 3.2).

A channel that has proposed is locked until it has an answer: it refuses proposals of others, so that nobody
is merged into two clusters and no merge is made twice.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from broker_grpc.protocols.clustering.costs import gains
from broker_grpc.protocols.clustering.draws import cluster_identity, draw_key, sample
from broker_grpc.protocols.clustering.entity import Entity, Table
from broker_grpc.protocols.clustering.merging import Common, Side, merge_delta
from broker_grpc.protocols.clustering.messages import (
    Address,
    AnswersDue,
    Created,
    MergeCommit,
    MergeDone,
    MergeProposal,
    MergeRefused,
    Message,
    Overdue,
    OverlapAnswer,
    OverlapAsk,
    Resubscribe,
    SampleDue,
    Survey,
    Topics,
)
from broker_grpc.protocols.clustering.settings import ClusteringSettings
from broker_grpc.protocols.clustering.surveys import estimate, sample_size
from broker_grpc.protocols.clustering.thresholds import common_users_needed


class State(Enum):
    AWAITED = auto()  # a cluster of which nothing is known but that somebody wants to enter it
    FORMING = auto()  # a new cluster, until its topics' events reach it
    OPEN = auto()
    PROPOSING = auto()  # locked: an answer is awaited
    RETIRING = auto()  # merged into another; members are on their way there
    GONE = auto()


@dataclass
class Asked:
    """A survey that is under way."""

    topic: int | None = None  # None: of overlap
    removal: bool = False
    size: int = 0  # of the topic's channel, as told
    frequency: float = 0.0
    waiting: set[int] = field(default_factory=set)  # users
    answers: int = 0
    found: Counter[Address] = field(default_factory=Counter)


class Note(NamedTuple):
    """What a channel has done or decided, for whoever looks on."""

    operation: str
    estimate: float  # users: s~
    threshold: float  # above it, it is done; an addition's and a removal's
    users: int
    topics: tuple[int, ...]  # after it
    topic: int | None = None  # about which it was


class Channel(Entity):
    def __init__(self, address: Address, settings: ClusteringSettings, seed: int) -> None:
        super().__init__(address, settings, seed)
        self.state = State.OPEN
        self.notes: list[Note] = []  # since somebody took them
        self.members: set[int] = set()  # users
        self.surveys: dict[int, Asked] = {}
        self.drawn = self.made = 0

    def state_for(self, sender: Address, message: Message) -> State:
        return self.state

    def topics(self) -> Topics:
        raise NotImplementedError

    @property
    def side(self) -> Side:
        topics = self.topics()
        return Side(len(topics), sum(topics.values()), len(self.members), self.address.kind == "topic")

    def note(
        self, operation: str, estimate: float = -1.0, threshold: float = -1.0, topic: int | None = None,
        users: int | None = None, topics: Topics | None = None,
    ) -> None:  # fmt: skip
        size = len(self.members) if users is None else users
        having = tuple(sorted(self.topics() if topics is None else topics))
        self.notes.append(Note(operation, estimate, threshold, size, having, topic))

    def tell_all(self, message: Resubscribe) -> None:
        for user in sorted(self.members):
            self.send(Address("user", user), message)

    # ---------------------------------------------------------------- samples

    def next_draw(self) -> tuple[int, int]:
        """The number of this channel's next coin or sample, and its key."""
        self.drawn += 1
        return self.drawn, draw_key(self.seed, self.identity, self.drawn)

    def ask(self, survey: Asked) -> None:
        """A sample of the subscribers."""
        number, key = self.next_draw()
        survey.waiting = sample(key, self.members, sample_size(len(self.members), self.settings.margin))
        self.surveys[number] = survey
        question: Message = OverlapAsk(number) if survey.topic is None else Survey(survey.topic, number)
        for user in sorted(survey.waiting):
            self.send(Address("user", user), question)

    def sample_due(self, sender: Address, message: SampleDue) -> None:
        if self.settings.adapt and self.members:
            self.ask(Asked())

    def overlap_answer(self, sender: Address, message: OverlapAnswer) -> None:
        survey = self._answered(sender, message.number)
        if survey is None:
            return
        survey.found.update(Address("cluster", one) for one in message.clusters)
        if self.address.kind == "topic":
            survey.found.update(Address("topic", one) for one in message.topics)
        self._close_if_done(message.number)

    def answers_due(self, sender: Address, message: AnswersDue) -> None:
        if message.number in self.surveys:
            self.surveys[message.number].waiting.clear()
            self._close_if_done(message.number)

    def _answered(self, sender: Address, number: int) -> Asked | None:
        """The survey, if this one was asked and had not answered."""
        survey = self.surveys.get(number)
        if survey is None or sender.identity not in survey.waiting:
            self.refused += 1
            return None
        survey.waiting.discard(sender.identity)
        survey.answers += 1
        return survey

    def _close_if_done(self, number: int) -> None:
        if not self.surveys[number].waiting:
            survey = self.surveys.pop(number)
            if self.state is State.OPEN:
                self.conclude(survey)

    def conclude(self, survey: Asked) -> None:
        """All have answered, or nobody else will: the one with most in common gets a proposal."""
        survey.found.pop(self.address, None)
        if not survey.found:
            return
        other = min(survey.found, key=lambda one: (-survey.found[one], one.identity))
        users = estimate(survey.found[other], survey.answers, len(self.members))
        self.state = State.PROPOSING
        self.send(other, MergeProposal(dict(self.topics()), len(self.members), users))

    # ---------------------------------------------------------------- merging

    def proposed(self, sender: Address, message: MergeProposal) -> None:
        worth, needed = self._worth_merging(sender, message)
        union = {**message.topics, **self.topics()}
        self.note("merged" if worth else "not merged", message.users, needed, topics=union)
        if not worth:
            self.send(sender, MergeRefused())
            return
        self.made += 1
        new = cluster_identity(self.identity, self.made)
        self.send(Address("cluster", new), Created(union))
        self.send(sender, MergeCommit(new))
        self.retire(new)

    def _worth_merging(self, sender: Address, message: MergeProposal) -> tuple[bool, float]:
        """And with how many common users it would be."""
        theirs = message.topics
        other = Side(len(theirs), sum(theirs.values()), message.size, sender.kind == "topic")
        shared = self.topics().keys() & theirs.keys()
        most = min(len(self.members), message.size)
        topics = len(shared), sum(theirs[topic] for topic in shared)
        needed = common_users_needed(self.costs, self.side, other, *topics, most)
        common = Common(min(message.users, most), *topics)
        return most > 0 and gains(merge_delta(self.costs, self.side, other, common)), needed

    def locked(self, sender: Address, message: MergeProposal) -> None:
        self.send(sender, MergeRefused())

    def refused_by_other(self, sender: Address, message: MergeRefused) -> None:
        self.state = State.OPEN

    def give_up_proposal(self, sender: Address, message: Overdue) -> None:
        """The other is lost, or the answer is."""
        self.state = State.OPEN

    def committed(self, sender: Address, message: MergeCommit) -> None:
        self.send(sender, MergeDone())
        self.retire(message.cluster)

    def done(self, sender: Address, message: MergeDone) -> None:
        """The other side has told its subscribers, too."""

    def retire(self, successor: int) -> None:
        """A topic's channel goes on; its subscribers move."""
        self.state = State.OPEN
        self.tell_all(Resubscribe(successor))


# What every open channel understands.
SHARED: Table = {
    (State.OPEN, SampleDue): Channel.sample_due,
    (State.OPEN, MergeProposal): Channel.proposed,
    (State.PROPOSING, MergeProposal): Channel.locked,
    (State.PROPOSING, MergeRefused): Channel.refused_by_other,
    (State.PROPOSING, Overdue): Channel.give_up_proposal,
    (State.PROPOSING, MergeCommit): Channel.committed,
    **{
        (state, message): handler
        for state in (State.OPEN, State.PROPOSING, State.RETIRING)
        for message, handler in (
            (OverlapAnswer, Channel.overlap_answer),
            (AnswersDue, Channel.answers_due),
            (MergeDone, Channel.done),
        )
    },
}
