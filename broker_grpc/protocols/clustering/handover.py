"""A channel moves to another broker: what it knows, as a message. Surveys that are under way are given up."""

from __future__ import annotations

from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.clustering.channel import Channel, State
from broker_grpc.protocols.clustering.clusterchannel import ClusterChannel
from broker_grpc.protocols.clustering.directory import Directory
from broker_grpc.protocols.clustering.messages import Address, Entered, Message, Redirect, Sent
from broker_grpc.protocols.clustering.topicchannel import TopicChannel
from protos.clustering_messages import ChannelState, ClusterInfo


def state_of(channel: Channel, names: Directory) -> ChannelState:
    state = ChannelState(to=names.party(channel.address), state=channel.state.name)
    state.members = tuple(names.party(Address("user", user)) for user in sorted(channel.members))
    state.drawn, state.made = channel.drawn, channel.made
    if isinstance(channel, TopicChannel):
        state.frequency = channel.frequency
        known = sorted(channel.clusters.items())
        state.clusters = tuple(ClusterInfo(c, names.rates(topics), size) for c, (topics, size) in known)
    elif isinstance(channel, ClusterChannel):
        state.topics, state.coming = names.rates(channel.content), names.rates(channel.coming)
        state.successor = channel.successor or 0
    return state


def adopt(channel: Channel, state: ChannelState, names: Directory) -> list[Sent]:
    """Beside what this broker has heard of the channel meanwhile; answers what is to be said of it."""
    early = set(channel.members)
    channel.members |= {names.address(party).identity for party in state.members}
    channel.drawn, channel.made = max(channel.drawn, state.drawn), max(channel.made, state.made)
    if isinstance(channel, TopicChannel):
        _adopt_topic(channel, state, names)
        return []
    assert isinstance(channel, ClusterChannel)
    if channel.state is not State.AWAITED:
        return []  # it was built anew by its members
    return _adopt_cluster(channel, state, names, early)


def _phase(state: ChannelState) -> State:
    if state.state not in State.__members__:
        raise ProtocolError(f"a channel cannot be {state.state!r}")
    return State[state.state]


def _adopt_topic(channel: TopicChannel, state: ChannelState, names: Directory) -> None:
    channel.state = _phase(state)
    channel.frequency = state.frequency
    for info in state.clusters:
        channel.clusters.setdefault(info.cluster, (names.topics(info.topics), info.size))


def _adopt_cluster(
    channel: ClusterChannel, state: ChannelState, names: Directory, early: set[int]
) -> list[Sent]:
    """Those who came before it get their answer now."""
    channel.state, channel.successor = _phase(state), state.successor or None
    channel.content, channel.coming = names.topics(state.topics), names.topics(state.coming)
    if channel.state in (State.OPEN, State.PROPOSING):
        answer: Message = Entered(dict(channel.content), len(channel.members))
    elif channel.state in (State.RETIRING, State.GONE):
        answer = Redirect(channel.successor)
        channel.members -= early
    else:
        return []
    return [Sent(Address("user", user), answer) for user in sorted(early)]
