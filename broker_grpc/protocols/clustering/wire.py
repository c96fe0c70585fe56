"""Messages of entities as bodies of envelopes, and back; `messages` and the .proto say what each means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.clustering import messages as m
from broker_grpc.protocols.clustering.directory import Directory
from broker_grpc.protocols.clustering.messages import Address, Message
from protos import clustering_messages as w
from protos.body import Body

Said = tuple[Address, Address, Message]  # by whom, to whom, what


def encode(names: Directory, sender: Address, to: Address, message: Message) -> Body:
    """Between brokers; timers and interests of clients stay where they are."""
    receiver, said_by = names.party(to), names.party(sender)
    rates = names.rates
    body: Body
    match message:
        case m.Ask():
            body = w.AssociatedQuery()
        case m.Associated():
            clusters = [w.ClusterInfo(c, rates(t), n) for c, (t, n) in sorted(message.clusters.items())]
            body = w.AssociatedAnswer(frequency=message.frequency, clusters=tuple(clusters))
        case m.Hold():
            body = w.ChannelJoin(again=message.again)
        case m.Enter():
            known = message.known
            body = w.ChannelJoin(again=known is not None, known=rates(known or {}))
        case m.Held():
            body = w.ChannelJoined(frequency=message.frequency, size=message.size)
        case m.Entered():
            body = w.ChannelJoined(topics=rates(message.topics), size=message.size)
        case m.Release() | m.Leave():
            body = w.ChannelLeave()
        case m.Redirect():
            body = w.ClusterGone(successor=message.successor or 0)
        case m.TopicSubscribed():
            name = names.topic_name(message.topic)
            body = w.InterestChanged(topic=name, wanted=True, frequency=message.frequency, size=message.size)
        case m.TopicUnsubscribed():
            body = w.InterestChanged(topic=names.topic_name(message.topic))
        case m.Survey():
            body = w.Survey(number=message.number, topic=names.topic_name(message.topic))
        case m.OverlapAsk():
            body = w.Survey(number=message.number)
        case m.SurveyAnswer():
            body = w.SurveyAnswer(number=message.number, holds=message.holds, interested=message.interested)
        case m.OverlapAnswer():
            topics = tuple(sorted(map(names.topic_name, message.topics)))
            body = w.OverlapAnswer(
                number=message.number, topics=topics, clusters=tuple(sorted(message.clusters))
            )
        case m.Associate():
            cluster = w.ClusterInfo(sender.identity, rates(message.topics), message.size)
            body = w.ClusterAssociated(cluster=cluster, asks=message.asks)
        case m.Accepted():
            body = w.AssociationChanged(frequency=message.frequency)
        case m.Dissociate():
            body = w.AssociationChanged(removed=True)
        case m.MergeProposal():
            body = w.MergeProposal(topics=rates(message.topics), size=message.size, users=message.users)
        case m.MergeRefused():
            body = w.MergeAnswer()
        case m.MergeCommit():
            body = w.MergeAnswer(cluster=message.cluster)
        case m.MergeDone():
            body = w.MergeAnswer(done=True)
        case m.Created():
            body = w.ClusterChanged(change=w.Change.CREATED, topics=rates(message.topics))
        case m.Resubscribe():
            body = w.ClusterChanged(change=w.Change.RESUBSCRIBE, cluster=message.cluster)
        case m.TopicAdded():
            added = rates({message.topic: message.frequency})
            body = w.ClusterChanged(change=w.Change.TOPIC_ADDED, topics=added)
        case m.TopicRemoved():
            body = w.ClusterChanged(change=w.Change.TOPIC_REMOVED, topics=rates({message.topic: 0.0}))
        case m.Destroyed():
            body = w.ClusterChanged(change=w.Change.DESTROYED)
        case _:
            raise AssertionError(f"a {type(message).__name__} is not for the wire")
    body.to, body.sender = receiver, said_by
    return body


Reader = Callable[[Directory, Address, Any], Message]


def _associated(names: Directory, to: Address, body: w.AssociatedAnswer) -> Message:
    found = {info.cluster: (names.topics(info.topics), info.size) for info in body.clusters}
    return m.Associated(body.frequency, found)


def _join(names: Directory, to: Address, body: w.ChannelJoin) -> Message:
    if to.kind == "topic":
        return m.Hold(body.again)
    return m.Enter(names.topics(body.known) if body.again else None)


def _joined(names: Directory, to: Address, body: w.ChannelJoined) -> Message:
    if names.address(body.sender).kind == "topic":
        return m.Held(body.frequency, body.size)
    return m.Entered(names.topics(body.topics), body.size)


def _interest(names: Directory, to: Address, body: w.InterestChanged) -> Message:
    topic = names.topic(body.topic).identity
    return m.TopicSubscribed(topic, body.frequency, body.size) if body.wanted else m.TopicUnsubscribed(topic)


def _survey(names: Directory, to: Address, body: w.Survey) -> Message:
    if not body.topic:
        return m.OverlapAsk(body.number)
    return m.Survey(names.topic(body.topic).identity, body.number)


def _overlap(names: Directory, to: Address, body: w.OverlapAnswer) -> Message:
    held = frozenset(names.topic(name).identity for name in body.topics)
    return m.OverlapAnswer(body.number, held, frozenset(body.clusters))


def _associate(names: Directory, to: Address, body: w.ClusterAssociated) -> Message:
    if body.cluster is None:
        raise ProtocolError("an association without its cluster")
    return m.Associate(names.topics(body.cluster.topics), body.cluster.size, body.asks)


def _answer(names: Directory, to: Address, body: w.MergeAnswer) -> Message:
    if body.done:
        return m.MergeDone()
    return m.MergeCommit(body.cluster) if body.cluster else m.MergeRefused()


def _changed(names: Directory, to: Address, body: w.ClusterChanged) -> Message:
    topics = names.topics(body.topics)
    match body.change:
        case w.Change.CREATED:
            return m.Created(topics)
        case w.Change.RESUBSCRIBE if body.cluster:
            return m.Resubscribe(body.cluster)
        case w.Change.TOPIC_ADDED | w.Change.TOPIC_REMOVED if len(topics) == 1:
            ((topic, frequency),) = topics.items()
            added = body.change == w.Change.TOPIC_ADDED
            return m.TopicAdded(topic, frequency) if added else m.TopicRemoved(topic)
        case w.Change.DESTROYED:
            return m.Destroyed()
    raise ProtocolError(f"a change of a cluster that says nothing: {body.change}")


READERS: dict[type[Body], Reader] = {
    w.AssociatedQuery: lambda names, to, body: m.Ask(),
    w.AssociatedAnswer: _associated,
    w.ChannelJoin: _join,
    w.ChannelJoined: _joined,
    w.ChannelLeave: lambda names, to, body: m.Release() if to.kind == "topic" else m.Leave(),
    w.ClusterGone: lambda names, to, body: m.Redirect(body.successor or None),
    w.InterestChanged: _interest,
    w.Survey: _survey,
    w.SurveyAnswer: lambda names, to, body: m.SurveyAnswer(body.number, body.holds, body.interested),
    w.OverlapAnswer: _overlap,
    w.ClusterAssociated: _associate,
    w.AssociationChanged: lambda names, to, body: (
        m.Dissociate() if body.removed else m.Accepted(body.frequency)
    ),
    w.MergeProposal: lambda names, to, body: m.MergeProposal(
        names.topics(body.topics), body.size, body.users
    ),
    w.MergeAnswer: _answer,
    w.ClusterChanged: _changed,
}


def decode(names: Directory, body: Any) -> Said:
    """Raises ProtocolError for a message that says nothing."""
    to, sender = names.address(body.to), names.address(body.sender)
    return sender, to, READERS[body.__class__](names, to, body)
