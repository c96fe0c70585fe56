"""Scribe (section 3.2 of its paper): a tree is the union of the routes from its members to the root.

A broker's parent is its next hop towards the topic's key. A join goes one hop: whoever gets it takes the
sender as a child and, if it was not in the tree, joins by itself.
"""

from __future__ import annotations

from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.rendezvous.growth import Messages, Place
from broker_grpc.protocols.rendezvous.table import Topic
from protos.rendezvous_messages import TreeHandover, TreeJoin, TreeLeave


class ReversePath:
    def __init__(self, place: Place) -> None:
        self._place = place

    # ------------------------------------------------------------ this broker

    def subscribe(self, topic: Topic) -> Messages:
        topic.subscribed = True
        return self._enter(topic)

    def unsubscribe(self, topic: Topic) -> Messages:
        topic.subscribed = False
        return self._leave_if_idle(topic)

    def _enter(self, topic: Topic) -> Messages:
        return [] if topic.root or topic.parent else self._join(topic, self._place.next_hop(topic.key))

    def _join(self, topic: Topic, hop: str | None) -> Messages:
        topic.root = hop is None
        topic.attached = True  # by the word of this broker: a parent that is none says so
        topic.parent = hop or ""
        place = self._place
        return [(hop, TreeJoin(place.number, topic.name, place.broker, place.ring_id))] if hop else []

    def _leave_if_idle(self, topic: Topic) -> Messages:
        """The leave goes up as far as brokers have neither children nor interest (section 3.2)."""
        if topic.needed:
            return []
        self._place.table.drop(topic)
        return [(topic.parent, self._leave(topic))] if topic.parent else []

    def _leave(self, topic: Topic) -> TreeLeave:
        return TreeLeave(self._place.number, topic.name, self._place.broker, self._place.ring_id)

    # ------------------------------------------------------------ others

    def joined(self, sender: str, topic: Topic, member: str, id_: int) -> Messages:
        if member != sender:
            raise ProtocolError(f"{sender} joins in the name of {member!r}")
        return self._adopt(sender, topic)

    def claimed(self, sender: str, topic: Topic) -> Messages:
        return [] if sender in topic.children else self._adopt(sender, topic)

    def _adopt(self, sender: str, topic: Topic) -> Messages:
        """Two that are each other's next hop, while the ring changes, must not be each other's child."""
        hop = self._place.next_hop(topic.key)
        if hop == sender:
            self._forget_if_idle(topic)
            return [(sender, TreeHandover(self._place.number, topic.name, ""))]
        topic.children.add(sender)
        if topic.parent == sender:
            topic.parent = ""
        return self._enter(topic)

    def _forget_if_idle(self, topic: Topic) -> None:
        if not topic.needed:
            self._place.table.drop(topic)

    def left(self, sender: str, topic: Topic, member: str, id_: int) -> Messages:
        return self.lost_child(topic, sender)

    def attached(self, sender: str, topic: Topic, member: str, id_: int) -> Messages:
        raise ProtocolError("trees of reverse paths are not attached to")

    def detached(self, sender: str, topic: Topic, member: str) -> Messages:
        raise ProtocolError("trees of reverse paths are not detached from")

    # ------------------------------------------------------------ changes

    def lost_child(self, topic: Topic, child: str) -> Messages:
        topic.children.discard(child)
        return self._leave_if_idle(topic)

    def lost_parent(self, topic: Topic, instead: str) -> Messages:
        lost, topic.parent, topic.attached = topic.parent, "", False
        if not topic.needed:
            self._place.table.drop(topic)
            return []
        if instead and instead not in (self._place.broker, *topic.children):
            return self._join(topic, instead)
        hop = self._place.next_hop(topic.key)
        return [] if hop == lost else self._join(topic, hop)

    def look(self, topic: Topic) -> Messages:
        """A new root, or another next hop: join there, then leave the old parent (an old root has none)."""
        if not topic.needed:
            return self._leave_if_idle(topic)
        hop = self._place.next_hop(topic.key) or ""
        if hop in topic.children:
            topic.children.discard(hop)  # it is nearer to the root than this broker
        if hop == topic.parent and (hop or topic.root):
            return []
        old = topic.parent
        messages = self._join(topic, hop or None)
        return [*messages, (old, self._leave(topic))] if old else messages

    def farewell(self, topic: Topic) -> Messages:
        """Children first: they are given to the parent."""
        heir = TreeHandover(self._place.number, topic.name, topic.parent)
        messages: Messages = [(child, heir) for child in sorted(topic.children)]
        return [*messages, (topic.parent, self._leave(topic))] if topic.parent else messages
