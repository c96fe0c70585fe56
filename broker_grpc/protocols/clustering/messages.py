"""What entities say to each other. Each message has a purpose, by which it is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

Topics = Mapping[int, float]  # identity -> events per M


class Address(NamedTuple):
    kind: Literal["topic", "cluster", "user"]
    identity: int


@dataclass(frozen=True)
class Message:
    purpose: ClassVar[str] = ""

    @property
    def subject(self) -> int | None:
        """The topic by whose state it is legal or not; None: by the sender's."""
        return None


@dataclass(frozen=True)
class OfTopic(Message):
    topic: int

    @property
    def subject(self) -> int | None:
        return self.topic


# ---------------------------------------------------------------- to a user, from outside


@dataclass(frozen=True)
class Declare(OfTopic):
    """An interest."""


@dataclass(frozen=True)
class Withdraw(OfTopic):
    pass


# ---------------------------------------------------------------- users and channels


@dataclass(frozen=True)
class Ask(Message):
    """Which clusters have the topic?"""

    purpose: ClassVar[str] = "lookup"


@dataclass(frozen=True)
class Associated(Message):
    frequency: float
    clusters: Mapping[int, tuple[Topics, int]]  # topics and size
    purpose: ClassVar[str] = "lookup"


@dataclass(frozen=True)
class Hold(Message):
    """A direct subscription; `again`: it was confirmed, and the channel may have been lost since."""

    again: bool = False
    purpose: ClassVar[str] = "subscription"


@dataclass(frozen=True)
class Held(Message):
    frequency: float
    size: int
    purpose: ClassVar[str] = "subscription"


@dataclass(frozen=True)
class Release(Message):
    purpose: ClassVar[str] = "subscription"


@dataclass(frozen=True)
class Enter(Message):
    """A subscription to a cluster; `known`: its topics, as a member that says so again knows them."""

    known: Topics | None = None
    purpose: ClassVar[str] = "subscription"


@dataclass(frozen=True)
class Entered(Message):
    topics: Topics
    size: int
    purpose: ClassVar[str] = "subscription"


@dataclass(frozen=True)
class Redirect(Message):
    """The cluster is no more; its successor, if it has one."""

    successor: int | None
    purpose: ClassVar[str] = "subscription"


@dataclass(frozen=True)
class Leave(Message):
    purpose: ClassVar[str] = "subscription"


@dataclass(frozen=True)
class TopicSubscribed(Message):
    """A member took this topic directly."""

    topic: int
    frequency: float
    size: int
    purpose: ClassVar[str] = "trigger"


@dataclass(frozen=True)
class TopicUnsubscribed(Message):
    """A member now filters this topic out."""

    topic: int
    purpose: ClassVar[str] = "trigger"


# ---------------------------------------------------------------- surveys


@dataclass(frozen=True)
class Survey(OfTopic):
    number: int
    purpose: ClassVar[str] = "survey"


@dataclass(frozen=True)
class SurveyAnswer(Message):
    number: int
    holds: bool  # directly
    interested: bool
    purpose: ClassVar[str] = "survey"


@dataclass(frozen=True)
class OverlapAsk(Message):
    number: int
    purpose: ClassVar[str] = "overlap"


@dataclass(frozen=True)
class OverlapAnswer(Message):
    number: int
    topics: frozenset[int]  # held directly
    clusters: frozenset[int]
    purpose: ClassVar[str] = "overlap"


# ---------------------------------------------------------------- channels


@dataclass(frozen=True)
class Associate(Message):
    """A cluster tells a topic's channel that it has the topic, and what it is."""

    topics: Topics
    size: int
    asks: bool = False  # for an answer, also when it has said so before
    purpose: ClassVar[str] = "association"


@dataclass(frozen=True)
class Accepted(Message):
    """Events of the topic reach the cluster from now on, and there are so many of them."""

    frequency: float
    purpose: ClassVar[str] = "association"


@dataclass(frozen=True)
class Dissociate(Message):
    purpose: ClassVar[str] = "association"


@dataclass(frozen=True)
class MergeProposal(Message):
    topics: Topics
    size: int
    users: float  # common ones, estimated
    purpose: ClassVar[str] = "proposal"


@dataclass(frozen=True)
class MergeRefused(Message):
    purpose: ClassVar[str] = "proposal"


@dataclass(frozen=True)
class MergeCommit(Message):
    """Both become this cluster."""

    cluster: int
    purpose: ClassVar[str] = "proposal"


@dataclass(frozen=True)
class MergeDone(Message):
    purpose: ClassVar[str] = "proposal"


@dataclass(frozen=True)
class Created(Message):
    """To the place of a new cluster."""

    topics: Topics
    purpose: ClassVar[str] = "proposal"


# ---------------------------------------------------------------- from a channel to its subscribers


@dataclass(frozen=True)
class Resubscribe(Message):
    cluster: int
    purpose: ClassVar[str] = "resubscription"


@dataclass(frozen=True)
class TopicAdded(Message):
    topic: int
    frequency: float
    purpose: ClassVar[str] = "resubscription"


@dataclass(frozen=True)
class TopicRemoved(Message):
    topic: int
    purpose: ClassVar[str] = "resubscription"


@dataclass(frozen=True)
class Destroyed(Message):
    purpose: ClassVar[str] = "resubscription"


@dataclass(frozen=True)
class Event(OfTopic):
    id: str
    purpose: ClassVar[str] = "data"


# ---------------------------------------------------------------- timers of a channel


@dataclass(frozen=True)
class SampleDue(Message):
    """It is time to sample the overlap with other channels."""


@dataclass(frozen=True)
class UpkeepDue(Message):
    """A maintenance interval M is over."""


@dataclass(frozen=True)
class Overdue(Message):
    """What the channel waits for should have come long ago."""


@dataclass(frozen=True)
class AnswersDue(Message):
    """Who has not answered this survey by now has gone."""

    number: int


class Sent(NamedTuple):
    to: Address
    message: Message
