"""One client of the load driver: does what its plan says, when its plan says it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from broker_grpc.client.runtime import ClientRuntime
from broker_grpc.machine import Answered, Effect
from broker_grpc.process.clock import RunClock
from broker_grpc.process.eventlog import EventLog
from broker_grpc.process.tls import TlsFiles
from testbed.topology.plan import Client
from testbed.workload.script import ABSENT, ClientScript

Tell = Callable[[dict[str, Any]], None]


class LoadClient:
    """A `ClientScript` over real streams, which starts, stops and starts again.

    Each start is a new incarnation with publication ids of its own.
    """

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
        self._running: ClientRuntime[ClientScript] | None = None
        self._told = False
        self._gone = asyncio.Event()

    # ------------------------------------------------------------ life

    def start(self) -> None:
        """BrokerError or TestbedError when the plan cannot be followed; then nothing was sent."""
        if self._running is not None:
            return
        self._told = False
        self._gone = asyncio.Event()
        self._incarnation += 1
        script = ClientScript(self.plan, self._brokers, self._incarnation)
        runtime = ClientRuntime(
            script, self._clock, self._log, incarnation=self._incarnation, seed=self.plan.seed, tls=self._tls
        )
        effects = script.start(runtime.now_us())
        self._running = runtime
        runtime.on_effect = self._effect
        runtime.on_handled = self._handled
        runtime.act(effects)

    async def stop(self, patience_s: float) -> None:
        """Graceful: withdraw everything, let what was published arrive, disconnect."""
        runtime = self._running
        if runtime is None:
            return
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
        if self._running is not None:
            await self._hang_up(self._running)

    async def _hang_up(self, runtime: ClientRuntime[ClientScript]) -> None:
        if self._running is runtime:
            self._running = None
        await runtime.hang_up()

    def quiet(self) -> None:
        """Publish no more."""
        if self._running is not None:
            self._running.machine.quiet()

    def status(self) -> dict[str, Any]:
        return self._running.machine.status() if self._running is not None else dict(ABSENT)

    # ------------------------------------------------------------ answers

    def _effect(self, effect: Effect) -> None:
        if isinstance(effect, Answered) and effect.error:
            self._told = True
            self._tell({"event": "failed", "client": self.plan.id, "detail": effect.error})

    def _handled(self) -> None:
        runtime = self._running
        if runtime is None:
            return
        if runtime.machine.machine.closed:
            self._gone.set()
        if not self._told and runtime.machine.started:
            self._told = True
            self._tell({"event": "started", "client": self.plan.id})
