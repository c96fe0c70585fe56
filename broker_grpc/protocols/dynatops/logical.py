"""A position's topic routing table by ids, as section 5.1.2 moves it from broker to broker.

The trees of a version are laid over its positions: whoever gets a position gets its part of each tree, with
parents, children and members named by who is at their positions then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from broker_grpc.protocols.rendezvous.table import Topic, Via
from protos.dynatops_messages import LogicalTopic

PART = 200  # topics of one transfer


def logical(topics: Iterable[Topic], ids: Mapping[str, int]) -> tuple[LogicalTopic, ...]:
    """Names that have no id are not of this ring any more, and are left out."""
    return tuple(_logical(topic, ids) for topic in topics)


def _logical(topic: Topic, ids: Mapping[str, int]) -> LogicalTopic:
    members = [via for _, via in sorted(topic.members.items()) if via.child in ids]
    return LogicalTopic(
        topic.name,
        topic.root,
        topic.subscribed,
        topic.attached,
        (ids[topic.parent],) if topic.parent in ids else (),
        tuple(via.id for via in members),
        tuple(ids[via.child] for via in members),
    )


def restored(table: Iterable[LogicalTopic], names: Mapping[int, str]) -> Iterator[Topic]:
    """The same trees for who is at these positions now."""
    for told in table:
        topic = Topic(told.topic)
        topic.root, topic.subscribed, topic.attached = told.root, told.subscribed, told.attached
        topic.parent = next((names[id_] for id_ in told.parent if id_ in names), "")
        for id_, via in zip(told.members, told.via, strict=False):
            if id_ in names and via in names:
                topic.members[names[id_]] = Via(id_, names[via])
        topic.children = topic.by_child()
        yield topic


def parts_of(table: tuple[LogicalTopic, ...]) -> list[tuple[LogicalTopic, ...]]:
    """At least one, also of an empty table: its arrival is waited for."""
    return [table[at : at + PART] for at in range(0, len(table), PART)] or [()]
