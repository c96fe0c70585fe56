"""A cluster's channel: members, topics, and when a topic is added or removed (section 3.1)."""

from __future__ import annotations

from broker_grpc.protocols.clustering.adding import (
    add_delta,
    holders_needed,
    omega,
    remove_delta,
    size_to_watch,
)
from broker_grpc.protocols.clustering.channel import SHARED, Asked, Channel, State
from broker_grpc.protocols.clustering.costs import gains
from broker_grpc.protocols.clustering.draws import coin
from broker_grpc.protocols.clustering.messages import (
    Accepted,
    Address,
    Associate,
    Created,
    Destroyed,
    Dissociate,
    Enter,
    Entered,
    Event,
    Leave,
    MergeProposal,
    Message,
    Overdue,
    Redirect,
    SampleDue,
    SurveyAnswer,
    TopicAdded,
    TopicRemoved,
    Topics,
    TopicSubscribed,
    TopicUnsubscribed,
    UpkeepDue,
)
from broker_grpc.protocols.clustering.settings import ClusteringSettings
from broker_grpc.protocols.clustering.surveys import estimate


class ClusterChannel(Channel):
    """Who wants to enter may be there before it: users are told of it by others than those that create it."""

    def __init__(self, identity: int, settings: ClusteringSettings, seed: int) -> None:
        super().__init__(Address("cluster", identity), settings, seed)
        self.state = State.AWAITED
        self.content: dict[int, float] = {}  # topics whose events reach it
        self.coming: dict[int, float] = {}  # topics whose channels have not accepted yet
        self.successor: int | None = None
        self.refusals: dict[int, Asked] = {}  # by topic: how a refused addition looked
        self.holders: dict[int, float] = {}  # and how many held it

    def topics(self) -> Topics:
        return self.content

    # ---------------------------------------------------------------- coming and going

    def created(self, sender: Address, message: Created) -> None:
        self._form(message.topics)

    def _form(self, topics: Topics) -> None:
        self.state, self.coming = State.FORMING, dict(topics)
        self.associate_coming()

    def associate_coming(self) -> None:
        told = {**self.content, **self.coming}
        for topic in sorted(self.coming):
            self.send(Address("topic", topic), Associate(told, len(self.members), asks=True))

    def accepted(self, sender: Address, message: Accepted) -> None:
        """Only now may anybody count on the topic's events from here."""
        topic, frequency = sender.identity, message.frequency
        if topic in self.content:
            self.content[topic] = frequency
        if self.coming.pop(topic, None) is None:
            return
        self.content[topic] = frequency
        if self.state is State.FORMING:
            if not self.coming:
                self.state = State.OPEN
                for user in sorted(self.members):
                    self.send(Address("user", user), Entered(dict(self.content), len(self.members)))
        else:
            self._tell_content()
            self._tell_members(TopicAdded(sender.identity, frequency))

    def enter_early(self, sender: Address, message: Enter) -> None:
        self.members.add(sender.identity)

    def enter_awaited(self, sender: Address, message: Enter) -> None:
        """A member of a cluster that was lost here knows enough to build it anew."""
        self.members.add(sender.identity)
        if message.known:
            self.note("rebuilt", users=1)
            self._form(message.known)

    def enter(self, sender: Address, message: Enter) -> None:
        """Who says so again, and has its topics right, needs no answer."""
        self.members.add(sender.identity)
        if message.known is None or message.known.keys() != self.content.keys():
            self.send(sender, Entered(dict(self.content), len(self.members)))

    def turn_away(self, sender: Address, message: Enter) -> None:
        self.send(sender, Redirect(self.successor))

    def leave(self, sender: Address, message: Leave) -> None:
        self.members.discard(sender.identity)
        if not self.members:
            self.destroy()
        elif self.state is State.OPEN:
            self._look_again()

    def upkeep(self, sender: Address, message: UpkeepDue) -> None:
        """cost_a"""
        self._tell_content()

    def never_came(self, sender: Address, message: Overdue) -> None:
        """Nobody has created it: who waits for it asks elsewhere."""
        for user in sorted(self.members):
            self.send(Address("user", user), Redirect(None))
        self.members.clear()
        self.state = State.GONE

    def form_again(self, sender: Address, message: Overdue) -> None:
        self.associate_coming()

    def sample_or_go(self, sender: Address, message: SampleDue) -> None:
        """A cluster that nobody entered is not needed."""
        if self.members:
            self.sample_due(sender, message)
        else:
            self.destroy()

    def retire(self, successor: int) -> None:
        super().retire(successor)
        self.state, self.successor = State.RETIRING, successor

    def destroy(self) -> None:
        """Without subscribers, or with at most one topic."""
        self.note("destroyed")
        self._tell_members(Destroyed())
        for topic in sorted(self.content | self.coming):
            self.send(Address("topic", topic), Dissociate())
        self.members.clear()
        self.state = State.GONE

    def forward(self, sender: Address, message: Event) -> None:
        self._tell_members(message)

    # ---------------------------------------------------------------- topics come and go

    def subscribed(self, sender: Address, message: TopicSubscribed) -> None:
        topic = message.topic
        if topic in self.content or topic in self.coming:
            return
        if self._tossed(message.frequency, message.size):
            self.ask(Asked(topic, False, message.size, message.frequency))

    def unsubscribed(self, sender: Address, message: TopicUnsubscribed) -> None:
        frequency = self.content.get(message.topic)
        if frequency is not None and self._tossed(frequency, 0):
            self.ask(Asked(message.topic, True, 0, frequency))

    def _tossed(self, frequency: float, size: int) -> bool:
        needed = holders_needed(self.costs, frequency, size, len(self.members), len(self.content))
        return self.settings.adapt and coin(self.next_draw()[1]) < omega(self.settings.phi, needed)

    def survey_answer(self, sender: Address, message: SurveyAnswer) -> None:
        survey = self._answered(sender, message.number)
        if survey is None:
            return
        found = message.interested if survey.removal else message.holds
        survey.found[self.address] += found
        self._close_if_done(message.number)

    def conclude(self, survey: Asked) -> None:
        if survey.topic is None:
            super().conclude(survey)
            return
        found = estimate(survey.found[self.address], survey.answers, len(self.members))
        if survey.removal:
            self._conclude_removal(survey, survey.topic, found)
        elif survey.topic not in self.content and survey.topic not in self.coming:
            self._conclude_addition(survey, survey.topic, found)

    def _conclude_addition(self, survey: Asked, topic: int, holders: float) -> None:
        members, topics = len(self.members), len(self.content)
        needed = holders_needed(self.costs, survey.frequency, survey.size, members, topics)
        gained = gains(add_delta(self.costs, survey.frequency, survey.size, members, holders, topics))
        self.note("added" if gained else "not added", holders, needed, topic)
        if gained:
            self.refusals.pop(topic, None)
            self.coming[topic] = survey.frequency
            self.send(Address("topic", topic), Associate({**self.content, topic: survey.frequency}, members))
        else:
            self.refusals[topic], self.holders[topic] = survey, holders

    def _conclude_removal(self, survey: Asked, topic: int, interested: float) -> None:
        members, topics = len(self.members), len(self.content)
        if topic not in self.content:
            return
        needed = holders_needed(self.costs, survey.frequency, survey.size, members, topics - 1)
        gained = gains(remove_delta(self.costs, survey.frequency, survey.size, members, interested, topics))
        self.note("removed" if gained else "not removed", interested, needed, topic)
        if gained:
            del self.content[topic]
            self._tell_members(TopicRemoved(topic))
            self.send(Address("topic", topic), Dissociate())
            if len(self.content) + len(self.coming) <= 1:
                self.destroy()
            else:
                self._tell_content()

    def _look_again(self) -> None:
        """The cluster has shrunk: additions that were refused may be worth it now."""
        members, topics = len(self.members), len(self.content)
        for topic, survey in sorted(self.refusals.items()):
            size, holders = survey.size, self.holders[topic]
            if size_to_watch(self.costs, survey.frequency, size, members, holders, topics) >= members:
                del self.refusals[topic]
                self.ask(Asked(topic, False, size, survey.frequency))

    def _tell_content(self) -> None:
        """Rides on the upkeep of the association, which is part of the maintenance cost."""
        for topic in sorted(self.content):
            self.send(Address("topic", topic), Associate(dict(self.content), len(self.members)))

    def _tell_members(self, message: Message) -> None:
        for user in sorted(self.members):
            self.send(Address("user", user), message)


ClusterChannel.table = {
    **SHARED,
    (State.AWAITED, Created): ClusterChannel.created,
    (State.AWAITED, Enter): ClusterChannel.enter_awaited,
    (State.AWAITED, Overdue): ClusterChannel.never_came,
    (State.FORMING, Overdue): ClusterChannel.form_again,
    (State.AWAITED, MergeProposal): Channel.locked,
    (State.GONE, Enter): ClusterChannel.turn_away,
    (State.RETIRING, Enter): ClusterChannel.turn_away,
    (State.GONE, MergeProposal): Channel.locked,
    (State.RETIRING, MergeProposal): Channel.locked,
    (State.FORMING, MergeProposal): Channel.locked,
    (State.FORMING, Enter): ClusterChannel.enter_early,
    (State.FORMING, Accepted): ClusterChannel.accepted,
    (State.FORMING, Leave): ClusterChannel.leave,
    (State.OPEN, SampleDue): ClusterChannel.sample_or_go,
    (State.RETIRING, Leave): ClusterChannel.leave,
    (State.RETIRING, Accepted): ClusterChannel.accepted,
    **{
        (state, Event): ClusterChannel.forward
        for state in (State.FORMING, State.OPEN, State.PROPOSING, State.RETIRING)
    },
    **{
        (state, message): handler
        for state in (State.OPEN, State.PROPOSING)
        for message, handler in (
            (Enter, ClusterChannel.enter),
            (Leave, ClusterChannel.leave),
            (Accepted, ClusterChannel.accepted),
            (UpkeepDue, ClusterChannel.upkeep),
            (TopicSubscribed, ClusterChannel.subscribed),
            (TopicUnsubscribed, ClusterChannel.unsubscribed),
        )
    },
    **{
        (state, SurveyAnswer): ClusterChannel.survey_answer
        for state in (State.OPEN, State.PROPOSING, State.RETIRING)
    },
}
