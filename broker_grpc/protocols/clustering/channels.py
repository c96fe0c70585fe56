"""The channels for which one broker is responsible: their messages, times, log, and how they move.

Subscribers are registered at their channel by name. The registration is soft: who is not heard of for three
refreshes is gone, and a channel that was lost is built anew by those who still subscribe to it.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from broker_grpc.protocols.clustering.channel import Channel, Note, State
from broker_grpc.protocols.clustering.clusterchannel import ClusterChannel
from broker_grpc.protocols.clustering.directory import Directory
from broker_grpc.protocols.clustering.handover import adopt, state_of
from broker_grpc.protocols.clustering.kinds import CLUSTERED
from broker_grpc.protocols.clustering.measured import Measured
from broker_grpc.protocols.clustering.messages import (
    Address,
    AnswersDue,
    Associate,
    Created,
    Dissociate,
    Enter,
    Hold,
    Leave,
    Message,
    Overdue,
    Release,
    SampleDue,
    UpkeepDue,
)
from broker_grpc.protocols.clustering.options import TamaraSettings
from broker_grpc.protocols.clustering.timers import Timers
from broker_grpc.protocols.clustering.topicchannel import TopicChannel
from protos.clustering_messages import ChannelState
from protos.records import LogEvent

WAITING = (State.AWAITED, State.FORMING, State.PROPOSING)
SILENCE = 3  # refreshes that may fail to come
SECOND = 1_000_000
Timer = tuple[str, Address, int]  # what, of which channel, which of them


class Host(Protocol):
    """The broker."""

    @property
    def now_us(self) -> int: ...

    def say(self, sender: Address, to: Address, message: Message) -> None:
        """To an entity, wherever it is."""

    def log(self, event: LogEvent) -> None: ...


class Channels:
    def __init__(self, host: Host, names: Directory, settings: TamaraSettings) -> None:
        self.held: dict[Address, Channel] = {}
        self._host, self._names, self._settings = host, names, settings
        self._timers: Timers[Timer] = Timers()
        self._heard: dict[tuple[Address, Address], int] = {}  # channel, subscriber or cluster -> when
        self._measured: dict[Address, Measured] = {}  # of topics
        self._states: dict[Address, State] = {}  # for which the timer of a state runs

    # ------------------------------------------------------------ messages

    def take(self, sender: Address, to: Address, message: Message) -> None:
        channel = self._channel(to, again=isinstance(message, Enter) and bool(message.known))
        if isinstance(message, Hold | Enter | Associate):
            self._heard[to, sender] = self._host.now_us
        if isinstance(message, Associate):
            self._measure(channel)
        self._handle(channel, sender, message)

    def _channel(self, address: Address, again: bool = False) -> Channel:
        """It is there as soon as somebody speaks to it. Draws of one that was lost are not made twice."""
        channel = self.held.get(address)
        if channel is None:
            channel = self.held[address] = self._made(address)
            if again:
                channel.drawn = channel.made = self._host.now_us // SECOND
        return channel

    def _made(self, address: Address) -> Channel:
        settings, draws = self._settings.clustering, self._settings.draws
        if address.kind == "cluster":
            return ClusterChannel(address.identity, settings, draws)
        self._measured[address] = Measured(self._host.now_us)
        declared = self._settings.frequencies.get(self._names.name(address), 0.0)
        return TopicChannel(address.identity, declared, settings, draws)

    def _handle(self, channel: Channel, sender: Address, message: Message) -> None:
        was = channel.state
        for to, said in channel.handle(sender, message):
            self._send(channel, to, said)
        if isinstance(message, Created) and channel.state is not was:
            channel.note("created", topics=message.topics)
        self._note(channel)
        self._watch(channel)

    def _send(self, channel: Channel, to: Address, message: Message) -> None:
        """A topic's events reach a cluster a while longer: members take it elsewhere meanwhile."""
        timer = ("dissociate", channel.address, to.identity)
        if isinstance(message, Dissociate):
            self._timers.begin(timer, self._host.now_us + self._settings.linger_us)
            return
        if isinstance(message, Associate):
            self._timers.cancel(timer)
        self._host.say(channel.address, to, message)

    def _note(self, channel: Channel) -> None:
        notes, channel.notes = channel.notes, []
        name = self._names.name(channel.address)
        for note in notes:
            self._host.log(LogEvent(kind=CLUSTERED, message=name, content=self._told(note)))

    def _told(self, note: Note) -> str:
        found: dict[str, object] = {
            "operation": note.operation, "topics": [self._names.topic_name(t) for t in note.topics],
            "users": note.users, "estimate": note.estimate, "threshold": note.threshold,
        }  # fmt: skip
        if note.topic is not None:
            found["topic"] = self._names.topic_name(note.topic)
        return msgspec.json.encode(found).decode()

    # ------------------------------------------------------------ publications

    def published(self, topic: Address) -> list[int]:
        """An event of the topic has reached its channel: to which clusters it goes."""
        channel = self._channel(topic)
        assert isinstance(channel, TopicChannel)
        self._measured[topic].event()
        self._watch(channel)
        return sorted(channel.clusters)

    def _measure(self, channel: Channel) -> None:
        if isinstance(channel, TopicChannel):
            name = self._names.name(channel.address)
            if name not in self._settings.frequencies:
                measured, now_us = self._measured[channel.address], self._host.now_us
                channel.frequency = measured.per(self._interval_us, now_us)

    # ------------------------------------------------------------ time

    @property
    def _interval_us(self) -> int:
        return self._settings.heartbeat_interval_us

    def next_us(self) -> int | None:
        return self._timers.next_us()

    def deadline(self, now_us: int) -> None:
        for what, address, number in self._timers.due(now_us):
            channel = self.held.get(address)
            if what == "dissociate":
                self._host.say(address, Address("topic", number), Dissociate())
            elif channel is not None:
                self._due(channel, what, number)

    def _due(self, channel: Channel, what: str, number: int) -> None:
        here = channel.address
        match what:
            case "sample":
                self._sample(channel)
            case "upkeep" if channel.state in (State.OPEN, State.PROPOSING):
                self._handle(channel, here, UpkeepDue())
            case "answers":
                self._handle(channel, here, AnswersDue(number))
            case "overdue":
                del self._states[here]
                self._handle(channel, here, Overdue())
            case "forget":
                self._drop(channel)
                return
        if here in self.held:
            self._watch(channel)

    def _sample(self, channel: Channel) -> None:
        if isinstance(channel, TopicChannel):
            self._measure(channel)
            self._measured[channel.address].roll(self._host.now_us)
        self._expire(channel)
        if self._settings.clustering.adapt and channel.state is State.OPEN and channel.members:
            channel.note("sampled")
        self._handle(channel, channel.address, SampleDue())

    def _watch(self, channel: Channel) -> None:
        """Everything has its timer that its state wants."""
        here, now_us, timers = channel.address, self._host.now_us, self._timers
        if channel.state is State.GONE:
            timers.begin(("forget", here, 0), now_us + 6 * self._settings.patience_us)
            return
        timers.begin(("sample", here, 0), self._next_sample(here))
        if here.kind == "cluster":
            timers.begin(("upkeep", here, 0), now_us + self._interval_us)
        for number in channel.surveys:
            timers.begin(("answers", here, number), now_us + self._settings.patience_us)
        if self._states.get(here) is not channel.state:
            self._states[here] = channel.state
            timers.cancel(("overdue", here, 0))
            if channel.state in WAITING:
                timers.set(("overdue", here, 0), now_us + self._settings.patience_us)

    def _next_sample(self, here: Address) -> int:
        """In the next round: rounds have a cadence, and each channel its own instant in them."""
        round_us = self._settings.clustering.cadence * self._interval_us
        return (self._host.now_us // round_us + 1) * round_us + (round_us * here.identity >> 64)

    def _expire(self, channel: Channel) -> None:
        """Who has not been heard of is gone without a word."""
        here, now_us = channel.address, self._host.now_us
        late = now_us - SILENCE * self._settings.refresh * self._interval_us
        for user in sorted(channel.members):
            if self._heard.get((here, Address("user", user)), now_us) <= late:
                self._handle(channel, Address("user", user), Release() if here.kind == "topic" else Leave())
        if isinstance(channel, TopicChannel):
            for cluster in sorted(channel.clusters):
                if self._heard.get((here, Address("cluster", cluster)), now_us) <= late:
                    self._handle(channel, Address("cluster", cluster), Dissociate())

    # ------------------------------------------------------------ moving

    def hand_over(self, address: Address) -> ChannelState:
        """It is another broker's from now on; what was held back is said now."""
        channel = self.held[address]
        for timer in [t for t in self._timers.pending() if t[:2] == ("dissociate", address)]:
            self._timers.cancel(timer)
            self._host.say(address, Address("topic", timer[2]), Dissociate())
        channel.note("handed over")
        self._note(channel)
        self._drop(channel)
        return state_of(channel, self._names)

    def adopt(self, address: Address, state: ChannelState) -> None:
        channel = self._channel(address)
        for to, said in adopt(channel, state, self._names):
            self._host.say(address, to, said)
        for party in state.members:
            self._heard[address, self._names.address(party)] = self._host.now_us
        channel.note("taken over")
        self._note(channel)
        self._watch(channel)

    def _drop(self, channel: Channel) -> None:
        here = channel.address
        del self.held[here]
        self._measured.pop(here, None)
        self._states.pop(here, None)
        for timer in [timer for timer in self._timers.pending() if timer[1] == here]:
            self._timers.cancel(timer)
        for pair in [pair for pair in self._heard if pair[0] == here]:
            del self._heard[pair]

    # ------------------------------------------------------------ questions

    @property
    def settled(self) -> bool:
        return all(channel.state not in WAITING and not channel.surveys for channel in self.held.values())
