"""A client machine with its streams: what the Client API and the load driver share."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from broker_grpc.core.limits import Limits
from broker_grpc.machine import Driven
from broker_grpc.process.clock import RunClock
from broker_grpc.process.dialler import Dialler
from broker_grpc.process.eventlog import EventLog
from broker_grpc.process.runtime import Runtime
from broker_grpc.process.tls import TlsFiles


class NamedMachine(Driven, Protocol):
    @property
    def id(self) -> str: ...


M = TypeVar("M", bound=NamedMachine)


class ClientRuntime(Runtime, Generic[M]):
    """Dials the brokers that its machine asks for, and redials what is lost.

    The machine is a `ClientMachine`, or one that plays it by a plan.
    """

    machine: M

    def __init__(
        self,
        machine: M,
        clock: RunClock,
        log: EventLog,
        *,
        incarnation: int = 1,
        seed: int = 0,
        limits: Limits | None = None,
        tls: TlsFiles | None = None,
        any_id: bool = False,
    ) -> None:
        super().__init__(machine, clock, log, limits or Limits())
        self._dialler = Dialler(machine.id, "client", incarnation, self, seed=seed, tls=tls, any_id=any_id)
        self.links = self._dialler

    @property
    def queued(self) -> int:
        """Messages that wait in a stream for the network. What waits in the machine, for a connection or the
        end of a migration, is bounded by the machine's own buffer."""
        return sum(session.queued for session in self.sessions.values())

    @property
    def queued_bytes(self) -> int:
        return sum(session.queued_bytes for session in self.sessions.values())

    @property
    def refusal(self) -> str:
        """What a broker said when it last refused our hello; empty = none did."""
        return self._dialler.refusal

    async def hang_up(self) -> None:
        """Drop all streams at once."""
        self.stop()
        await self._dialler.stop()
