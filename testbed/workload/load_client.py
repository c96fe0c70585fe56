"""One client of the load driver: does what its plan says, when its plan says it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from broker_grpc.client_machine import ClientMachine
from broker_grpc.client_runtime import ClientRuntime
from broker_grpc.clock import RunClock
from broker_grpc.content.language import parse_filter
from broker_grpc.eventlog import EventLog
from broker_grpc.machine import Answered, Effect
from broker_grpc.tls import TlsFiles
from testbed.topology.plan import Client, SubscriptionPlan
from testbed.workload.schedule import offsets_us
from testbed.workload.sources import Attributes, advertisements, publications

Tell = Callable[[dict[str, Any]], None]


class LoadClient:
    """Starts, stops and starts again; each start is a new incarnation with publication ids of its own."""

    def __init__(
        self,
        plan: Client,
        brokers: Mapping[str, str],
        clock: RunClock,
        log: EventLog,
        tell: Tell,
        tls: TlsFiles | None = None,
    ) -> None:
        self.plan = plan
        self._brokers = brokers
        self._clock = clock
        self._log = log
        self._tell = tell
        self._tls = tls
        self._incarnation = 0
        self._running: ClientRuntime | None = None
        self._reset()

    def _reset(self) -> None:
        self._timers: set[asyncio.TimerHandle] = set()
        self._awaited: set[int] = set()  # requests of time zero without an answer
        self._told = False
        self._next: asyncio.TimerHandle | None = None
        self._gone = asyncio.Event()

    # ------------------------------------------------------------ life

    def start(self) -> None:
        """BrokerError or TestbedError when the plan cannot be followed."""
        if self._running is not None:
            return
        self._reset()
        self._incarnation += 1
        plan = self.plan
        wanted = [subscription for subscription in plan.subscriptions if not subscription.at_us]
        offered = [parse_filter(text) for text in self._advertisements()]
        first = [(parse_filter(one.filter), one.group) for one in wanted]
        self._content: Iterator[Attributes] = iter(())
        if plan.publications is not None:
            self._content = publications(plan.publications, plan.seed)
        machine = ClientMachine(
            plan.id,
            plan.broker,
            self._brokers.get(plan.broker, ""),
            addresses=self._brokers,
            group=self._group(),
            incarnation=self._incarnation,
        )
        runtime = self._running = ClientRuntime(
            machine, self._clock, self._log, incarnation=self._incarnation, seed=plan.seed, tls=self._tls
        )
        runtime.on_effect = self._effect
        runtime.on_handled = self._handled
        self._started_us = runtime.now_us()
        runtime.act(machine.start(self._started_us))
        for filter_ in offered:
            self._request(machine.advertise(self._started_us, filter_, plan.group))
        for (filter_, group), one in zip(first, wanted, strict=True):
            self._until(self._request(machine.subscribe(self._started_us, filter_, group)), one)
        for one in plan.subscriptions:
            if one.at_us:
                self._at(one.at_us, partial(self._subscribe, one))
        self._schedule()

    def _advertisements(self) -> list[str]:
        plan = self.plan
        if plan.advertisements or plan.publications is None:
            return plan.advertisements
        return advertisements(plan.publications, plan.seed)

    def _group(self) -> str:
        """The subscriptions' own group where they agree on one: low, medium, high."""
        groups = {one.group for one in self.plan.subscriptions}
        return groups.pop() if len(groups) == 1 and "" not in groups else self.plan.group

    async def stop(self, patience_s: float) -> None:
        """Graceful: withdraw everything, let what was published arrive, disconnect."""
        runtime = self._running
        if runtime is None:
            return
        self._cancel_timers()
        runtime.act(runtime.machine.close(runtime.now_us()))
        self._handled()
        try:
            async with asyncio.timeout(patience_s):
                await self._gone.wait()
        except TimeoutError:
            pass  # no broker answers
        await self._hang_up(runtime)

    async def kill(self) -> None:
        """As a crash: the streams are cut."""
        self._cancel_timers()
        if self._running is not None:
            await self._hang_up(self._running)

    async def _hang_up(self, runtime: ClientRuntime) -> None:
        if self._running is runtime:
            self._running = None
        await runtime.hang_up()

    def quiet(self) -> None:
        """Publish no more."""
        if self._next is not None:
            self._next.cancel()
            self._next = None
        self._times: Iterator[int] = iter(())

    def status(self) -> dict[str, Any]:
        runtime = self._running
        if runtime is None:
            return {"connected": False, "subscribed": 0, "wanted": 0, "published": 0, "delivered": 0}
        machine = runtime.machine
        subscriptions = [item for item in machine.items.values() if not item.is_advertisement]
        return {
            "connected": machine.broker in machine.connected,
            "subscribed": sum(bool(item.id) for item in subscriptions),
            "wanted": len(subscriptions),
            "published": machine.published,
            "delivered": machine.delivered,
        }

    # ------------------------------------------------------------ timed requests

    def _at(self, offset_us: int, what: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        when = (self._started_us + offset_us - self._clock.offset_us) / 1e6
        self._timers.add(loop.call_at(when, what))

    def _cancel_timers(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        self.quiet()

    def _request(self, result: tuple[int, list[Effect]]) -> int:
        token, effects = result
        assert self._running is not None
        self._awaited.add(token)
        self._running.act(effects)
        return token

    def _subscribe(self, one: SubscriptionPlan) -> None:
        runtime = self._running
        if runtime is None:
            return
        filter_ = parse_filter(one.filter)
        token, effects = runtime.machine.subscribe(runtime.now_us(), filter_, one.group)
        runtime.act(effects)
        self._until(token, one)

    def _until(self, token: int, one: SubscriptionPlan) -> None:
        if one.until_us:
            self._at(one.until_us, partial(self._withdraw, token))

    def _withdraw(self, token: int) -> None:
        runtime = self._running
        if runtime is not None and token in runtime.machine.items:
            runtime.act(runtime.machine.withdraw(runtime.now_us(), token))

    # ------------------------------------------------------------ publications

    def _schedule(self) -> None:
        plan = self.plan.publications
        self._times = offsets_us(plan, self.plan.seed) if plan is not None else iter(())
        self._payload = bytes(plan.payload_bytes) if plan is not None else b""
        self._arm(next(self._times, None))

    def _arm(self, offset_us: int | None) -> None:
        """Absolute times: a late publication never makes the next one late."""
        if offset_us is None:
            self._next = None
            return
        self._due_us = self._started_us + offset_us
        when = (self._due_us - self._clock.offset_us) / 1e6
        self._next = asyncio.get_running_loop().call_at(when, self._publish)

    def _publish(self) -> None:
        runtime = self._running
        if runtime is None:
            return
        content = next(self._content)
        _, effects = runtime.machine.publish(max(runtime.now_us(), self._due_us), content, self._payload)
        runtime.act(effects)
        self._arm(next(self._times, None))

    # ------------------------------------------------------------ answers

    def _effect(self, effect: Effect) -> None:
        if not isinstance(effect, Answered):
            return
        self._awaited.discard(effect.token)
        if effect.error:
            self._told = True
            self._tell({"event": "failed", "client": self.plan.id, "detail": effect.error})

    def _handled(self) -> None:
        runtime = self._running
        if runtime is None:
            return
        machine = runtime.machine
        if machine.closed:
            self._gone.set()
        if not self._told and not self._awaited and machine.broker in machine.connected:
            self._told = True
            self._tell({"event": "started", "client": self.plan.id})
