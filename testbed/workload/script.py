"""What one client of a plan does, as a machine: requests and publications at their times.

Sans-IO like the client machine it plays: `handle` and `next_deadline_us`, effects returned.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from broker_grpc.client.machine import ClientMachine, ClientOptions
from broker_grpc.content.filters import Filter
from broker_grpc.content.language import parse_filter
from broker_grpc.machine import Answered, DeadlineReached, Effects, Stimulus
from protos.body import Envelope
from testbed.topology.plan import Client, SubscriptionPlan
from testbed.workload.schedule import offsets_us
from testbed.workload.sources import Attributes, advertisements, publications

Action = Callable[[int], Effects]
ABSENT: dict[str, Any] = {
    "connected": False,
    "subscribed": 0,
    "wanted": 0,
    "published": 0,
    "delivered": 0,
}  # of no script


class ClientScript:
    """One start of a client; a restart is a new script with the next incarnation."""

    def __init__(
        self,
        plan: Client,
        brokers: Mapping[str, str],
        incarnation: int = 1,
        options: ClientOptions | None = None,
    ) -> None:
        self.plan = plan
        self.machine = ClientMachine(
            plan.id,
            plan.broker,
            brokers.get(plan.broker, ""),
            addresses=brokers,
            group=group_of(plan),
            incarnation=incarnation,
            options=options,
        )
        self.failed = ""
        self._awaited: set[int] = set()  # requests of time zero without an answer
        self._agenda: list[tuple[int, int, Action]] = []
        self._count = 0
        self._times: Iterator[int] = iter(())
        self._content: Iterator[Attributes] = iter(())
        self._payload = b""
        self._started_us = 0
        self._quiet = False

    @property
    def id(self) -> str:
        return self.plan.id

    @property
    def started(self) -> bool:
        """Connected, and everything asked for at time zero is acknowledged."""
        return not self._awaited and self.machine.broker in self.machine.connected

    # ------------------------------------------------------------ life

    def start(self, now_us: int) -> Effects:
        """BrokerError or TestbedError when the plan cannot be followed."""
        self._started_us = now_us
        effects = list(self.machine.start(now_us))
        for text in advertisements_of(self.plan):
            effects += self._request(self.machine.advertise(now_us, parse_filter(text), self.plan.group))
        for one in self.plan.subscriptions:
            filter_ = parse_filter(one.filter)
            if one.at_us:
                self._at(one.at_us, partial(self._subscribe, one=one, filter_=filter_))
            else:
                effects += self._subscribe(now_us, one, filter_, first=True)
        self._schedule()
        return effects

    def _request(self, result: tuple[int, Effects]) -> Effects:
        token, effects = result
        self._awaited.add(token)
        return list(effects)

    def _subscribe(self, now_us: int, one: SubscriptionPlan, filter_: Filter, first: bool = False) -> Effects:
        token, effects = self.machine.subscribe(now_us, filter_, one.group)
        if first:
            self._awaited.add(token)
        if one.until_us:
            self._at(one.until_us, partial(self._withdraw, token=token))
        return list(effects)

    def _withdraw(self, now_us: int, token: int) -> Effects:
        return self.machine.withdraw(now_us, token) if token in self.machine.items else []

    def quiet(self) -> None:
        """Publish no more."""
        self._quiet = True

    def close(self, now_us: int) -> Effects:
        """Graceful: withdraw everything, disconnect; `machine.closed` says when it is done."""
        self._agenda.clear()
        return self.machine.close(now_us)

    def status(self) -> dict[str, Any]:
        machine = self.machine
        subscriptions = [item for item in machine.items.values() if not item.is_advertisement]
        return {
            "connected": machine.broker in machine.connected,
            "subscribed": sum(bool(item.id) for item in subscriptions),
            "wanted": len(subscriptions),
            "published": machine.published,
            "delivered": machine.delivered,
        }

    # ------------------------------------------------------------ publications

    def _schedule(self) -> None:
        plan = self.plan.publications
        if plan is not None:
            self._content = publications(plan, self.plan.seed)
            self._times = offsets_us(plan, self.plan.seed)
            self._payload = bytes(plan.payload_bytes)
            self._arm()

    def _arm(self) -> None:
        """Absolute times: a late publication never makes the next one late."""
        offset = next(self._times, None)
        if offset is not None:
            self._at(offset, self._publish)

    def _publish(self, now_us: int) -> Effects:
        if self._quiet:
            return []
        _, effects = self.machine.publish(now_us, next(self._content), self._payload)
        self._arm()
        return effects

    # ------------------------------------------------------------ the machine

    def _at(self, offset_us: int, action: Action) -> None:
        self._count += 1
        heapq.heappush(self._agenda, (self._started_us + offset_us, self._count, action))

    def receive(self, now_us: int, peer: str, envelope: Envelope) -> Effects:
        """`handle` of a `Received`, for a driver that spares itself the object."""
        effects = self.machine.receive(now_us, peer, envelope)
        return self._watched(effects) if self._awaited else effects

    def handle(self, now_us: int, stimulus: Stimulus) -> Effects:
        if not isinstance(stimulus, DeadlineReached):
            return self._watched(self.machine.handle(now_us, stimulus))
        effects: Effects = []
        while self._agenda and self._agenda[0][0] <= now_us:
            effects += heapq.heappop(self._agenda)[2](now_us)
        deadline = self.machine.next_deadline_us()
        if deadline is not None and deadline <= now_us:
            effects += self.machine.handle(now_us, stimulus)
        return self._watched(effects)

    def _watched(self, effects: Effects) -> Effects:
        if self._awaited:
            for effect in effects:
                if isinstance(effect, Answered) and effect.token in self._awaited:
                    self._awaited.discard(effect.token)
                    self.failed = self.failed or effect.error
        return effects

    def next_deadline_us(self) -> int | None:
        deadline = self.machine.next_deadline_us()
        if not self._agenda:
            return deadline
        due = self._agenda[0][0]
        return due if deadline is None else min(due, deadline)


def advertisements_of(plan: Client) -> list[str]:
    """The client's own, or what its source of publications calls for."""
    if plan.advertisements or plan.publications is None:
        return plan.advertisements
    return advertisements(plan.publications, plan.seed)


def group_of(plan: Client) -> str:
    """The subscriptions' own group where they agree on one: low, medium, high."""
    groups = {one.group for one in plan.subscriptions}
    return groups.pop() if len(groups) == 1 and "" not in groups else plan.group
