"""Bayeux (section 3 of its paper): a tree is the union of the routes from the root to its members.

A join goes to the root. The root answers with an attach that is routed towards the member: whoever passes it
on notes for which member it is responsible, and by which child. A leave goes to the root as well, and a
detach down the tree, so that whoever is responsible for nobody any more is out of it.
"""

from __future__ import annotations

from broker_grpc.protocols.rendezvous.growth import Messages, Place
from broker_grpc.protocols.rendezvous.table import Topic, Via
from protos.rendezvous_messages import TreeAttach, TreeDetach, TreeHandover, TreeJoin, TreeLeave


class TopDown:
    def __init__(self, place: Place) -> None:
        self._place = place

    # ------------------------------------------------------------ this broker

    def subscribe(self, topic: Topic) -> Messages:
        topic.subscribed = True
        return self._ask_for(topic, self._place.broker, self._place.ring_id)

    def unsubscribe(self, topic: Topic) -> Messages:
        topic.subscribed = False
        hop = self._place.next_hop(topic.key)
        self._forget_if_idle(topic)
        place = self._place
        return [(hop, TreeLeave(place.number, topic.name, place.broker, place.ring_id))] if hop else []

    def _ask_for(self, topic: Topic, member: str, id_: int) -> Messages:
        """Towards the root; at the root it is attached at once."""
        hop = self._place.next_hop(topic.key)
        if hop is not None:
            return [(hop, TreeJoin(self._place.number, topic.name, member, id_))]
        return self._as_root(topic, member, id_)

    def _as_root(self, topic: Topic, member: str, id_: int) -> Messages:
        topic.root, topic.parent = True, ""
        return self._attach(topic, member, id_)

    def _attach(self, topic: Topic, member: str, id_: int) -> Messages:
        """On from here to the member. Raises nothing: one that is gone is taken out of the tree."""
        number = self._place.number
        if member == self._place.broker:
            topic.attached = topic.subscribed
            self._forget_if_idle(topic)
            return [] if topic.subscribed else self._gone(topic, member, id_)
        hop = self._place.next_hop(id_)
        if hop is None:
            self._remove(topic, member)
            self._forget_if_idle(topic)
            return self._gone(topic, member, id_)
        old = topic.members.get(member)
        topic.members[member] = Via(id_, hop)
        topic.children = topic.by_child()
        messages: Messages = [(hop, TreeAttach(number, topic.name, member, id_))]
        if old is not None and old.child != hop:
            messages.append((old.child, TreeDetach(number, topic.name, member)))
        return messages

    def _gone(self, topic: Topic, member: str, id_: int) -> Messages:
        hop = self._place.next_hop(topic.key)
        return [(hop, TreeLeave(self._place.number, topic.name, member, id_))] if hop is not None else []

    def _remove(self, topic: Topic, member: str) -> Via | None:
        via = topic.members.pop(member, None)
        topic.children = topic.by_child()
        return via

    def _forget_if_idle(self, topic: Topic) -> None:
        if not topic.needed:
            self._place.table.drop(topic)

    # ------------------------------------------------------------ others

    def joined(self, sender: str, topic: Topic, member: str, id_: int) -> Messages:
        messages = self._ask_for(topic, member, id_)
        self._forget_if_idle(topic)
        return messages

    def attached(self, sender: str, topic: Topic, member: str, id_: int) -> Messages:
        """A root that hears of another one goes on being it: the other will learn of it from its ring."""
        if self._place.next_hop(topic.key) is None:
            return self._as_root(topic, member, id_)
        old, topic.parent, topic.root = topic.parent, sender, False
        messages = self._attach(topic, member, id_)
        if old and old != sender:  # perhaps of another root, which does not know who is behind this broker
            messages += self._ask_for_all(topic, but=member)
        return messages

    def left(self, sender: str, topic: Topic, member: str, id_: int) -> Messages:
        hop = self._place.next_hop(topic.key)
        if hop is not None:
            self._forget_if_idle(topic)
            return [(hop, TreeLeave(self._place.number, topic.name, member, id_))]
        return self._take_out(topic, member)

    def detached(self, sender: str, topic: Topic, member: str) -> Messages:
        """Only of the parent: whoever is reached by another way now is none of the old one's business."""
        if sender != topic.parent:
            self._forget_if_idle(topic)
            return []
        if member == self._place.broker:
            topic.attached = False
            self._forget_if_idle(topic)
            return []
        return self._take_out(topic, member)

    def _take_out(self, topic: Topic, member: str) -> Messages:
        via = self._remove(topic, member)
        self._forget_if_idle(topic)
        return [(via.child, TreeDetach(self._place.number, topic.name, member))] if via is not None else []

    # ------------------------------------------------------------ changes

    def claimed(self, sender: str, topic: Topic) -> Messages:
        if sender in topic.children:
            return []
        self._forget_if_idle(topic)
        return [(sender, TreeHandover(self._place.number, topic.name, ""))]

    def lost_child(self, topic: Topic, child: str) -> Messages:
        """Members behind it are asked for again; the child itself is no member if it is dead."""
        behind = {member: via for member, via in sorted(topic.members.items()) if via.child == child}
        for member in behind:
            self._remove(topic, member)
        self._forget_if_idle(topic)
        return [
            one
            for member, via in behind.items()
            if self._place.next_hop(via.id) != child
            for one in self._ask_for(self._place.table.take(topic.name), member, via.id)
        ]

    def lost_parent(self, topic: Topic, instead: str) -> Messages:
        topic.parent, topic.attached = "", False
        return self._ask_for_all(topic)

    def _ask_for_all(self, topic: Topic, but: str = "") -> Messages:
        messages: Messages = []
        if topic.subscribed and but != self._place.broker:
            messages += self._ask_for(topic, self._place.broker, self._place.ring_id)
        for member, via in sorted(topic.members.items()):
            if member != but:
                messages += self._ask_for(topic, member, via.id)
        return messages

    def look(self, topic: Topic) -> Messages:
        if not topic.needed:
            self._forget_if_idle(topic)
            return []
        is_root = self._place.next_hop(topic.key) is None
        if topic.root and not is_root:
            return self._resign(topic)
        if is_root and not topic.root:
            topic.root, topic.parent, topic.attached = True, "", True
        if not (topic.root or (topic.parent and (topic.attached or not topic.subscribed))):
            return self._ask_for_all(topic)
        return self._rerouted(topic)

    def _rerouted(self, topic: Topic) -> Messages:
        messages: Messages = []
        for member, via in sorted(topic.members.items()):
            if self._place.next_hop(via.id) != via.child:
                messages += self._attach(topic, member, via.id)
        return messages

    def _resign(self, topic: Topic) -> Messages:
        """The new root gets the members, and the old one's children lose theirs: they are attached anew."""
        topic.root, topic.attached = False, False
        messages = self._ask_for_all(topic)
        for member, via in sorted(topic.members.items()):
            messages.append((via.child, TreeDetach(self._place.number, topic.name, member)))
        topic.members.clear()
        topic.children = set()
        self._forget_if_idle(topic)
        return messages

    def farewell(self, topic: Topic) -> Messages:
        place = self._place
        heir = TreeHandover(place.number, topic.name, "")
        messages: Messages = [(child, heir) for child in sorted(topic.children)]
        hop = place.next_hop(topic.key)
        if topic.subscribed and hop is not None:
            messages.append((hop, TreeLeave(place.number, topic.name, place.broker, place.ring_id)))
        return messages
