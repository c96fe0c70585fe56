"""What a broker knows of the trees it is in, in one plane."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from broker_grpc.protocols.ring.identifiers import key_of


class Via(NamedTuple):
    """How a member is reached."""

    id: int
    child: str


class Topic:
    """One tree, as one broker sees it.

    Scribe's broker knows its children; Bayeux's knows for which members it is responsible and by which child
    it reaches each.
    """

    __slots__ = ("attached", "children", "key", "members", "name", "parent", "root", "subscribed")

    def __init__(self, name: str) -> None:
        self.name = name
        self.key = key_of(name)
        self.parent = ""
        self.root = False
        self.subscribed = False  # of its own interest, not for others
        self.attached = False  # the parent knows of this broker
        self.children: set[str] = set()
        self.members: dict[str, Via] = {}

    @property
    def placed(self) -> bool:
        """In the tree, or none of its business."""
        return self.root or not self.needed or bool(self.parent and (self.attached or not self.subscribed))

    @property
    def needed(self) -> bool:
        return self.subscribed or bool(self.children)

    def by_child(self) -> set[str]:
        """Children that lead to members."""
        return {via.child for via in self.members.values()}


class TopicTable:
    """Topics by name. One that nothing needs is dropped by who changes it."""

    def __init__(self) -> None:
        self._topics: dict[str, Topic] = {}

    def __len__(self) -> int:
        return len(self._topics)

    def __iter__(self) -> Iterator[Topic]:
        """By name; the table may change meanwhile."""
        return iter([self._topics[name] for name in sorted(self._topics)])

    def get(self, name: str) -> Topic | None:
        return self._topics.get(name)

    def take(self, name: str) -> Topic:
        """The topic, also when it was not here before."""
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics[name] = Topic(name)
        return topic

    def put(self, topic: Topic) -> None:
        """In place of what was there."""
        self._topics[topic.name] = topic

    def drop(self, topic: Topic) -> None:
        if self._topics.get(topic.name) is topic:
            del self._topics[topic.name]
