"""What the two ways to grow a tree have in common: the events of a tree, answered with messages.

Pure but for the table they are given: the same table, routes and event give the same answer.
Time, links and the log are `trees`' business.
"""

from __future__ import annotations

from typing import Protocol

from broker_grpc.protocols.rendezvous.table import Topic, TopicTable
from protos.body import Body

Messages = list[tuple[str, Body]]


class Place(Protocol):
    """Where this broker is: one plane of it."""

    @property
    def broker(self) -> str: ...

    @property
    def ring_id(self) -> int: ...

    @property
    def number(self) -> int:
        """Of the plane."""

    @property
    def table(self) -> TopicTable: ...

    def next_hop(self, key: int) -> str | None: ...


class Growth(Protocol):
    def subscribe(self, topic: Topic) -> Messages:
        """The first local interest."""

    def unsubscribe(self, topic: Topic) -> Messages:
        """The last local interest is gone."""

    def joined(self, sender: str, topic: Topic, member: str, id_: int) -> Messages: ...

    def attached(self, sender: str, topic: Topic, member: str, id_: int) -> Messages: ...

    def left(self, sender: str, topic: Topic, member: str, id_: int) -> Messages: ...

    def detached(self, sender: str, topic: Topic, member: str) -> Messages: ...

    def lost_child(self, topic: Topic, child: str) -> Messages:
        """It is dead, or said that it is no child."""

    def lost_parent(self, topic: Topic, instead: str) -> Messages:
        """It is dead, or said that it is no parent. `instead`: who may take this broker; empty = nobody."""

    def claimed(self, sender: str, topic: Topic) -> Messages:
        """The sender says that it is a child; it may be unknown."""

    def look(self, topic: Topic) -> Messages:
        """Is it where the ring's routes want it? Called when the ring has changed, and now and then."""

    def farewell(self, topic: Topic) -> Messages:
        """This broker goes."""
