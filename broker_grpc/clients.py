"""PubSub.Connect: one stream per client."""

from __future__ import annotations

from typing import Any

from broker_grpc.conversation import converse
from broker_grpc.errors import BrokerError, ProtocolError
from broker_grpc.handshake import check_identity, check_taken, hello, read_hello, refusal
from broker_grpc.runtime import Runtime
from broker_grpc.session import Session
from broker_grpc.transport import AcceptedStream, StreamLost
from protos.records import LogEvent


class ClientGate:
    """Lets clients in, one stream per id, and no new ones while the broker drains."""

    def __init__(self, broker: str, incarnation: int, runtime: Runtime) -> None:
        self._hello = hello(broker, "broker", incarnation)
        self._runtime = runtime
        self.draining = False

    async def connect(self, _requests: Any, context: Any) -> None:
        stream = AcceptedStream(context)
        try:
            session = await self._greet(stream)
        except BrokerError as error:
            self._runtime.log.write(LogEvent(kind="REFUSED", type="hello", detail=f"{error.reason}: {error}"))
            await stream.write(refusal(error))
        except StreamLost:
            return
        else:
            await converse(session, self._runtime)

    async def _greet(self, stream: AcceptedStream) -> Session:
        runtime = self._runtime
        greeting = await read_hello(stream, "client", runtime.limits)
        if self.draining:
            raise ProtocolError("this broker takes no new clients: it is draining")
        check_identity(stream, greeting.id)
        check_taken(stream, greeting, runtime.sessions.get(greeting.id))
        await stream.write(self._hello)
        return Session(greeting.id, "client", greeting.incarnation, stream, runtime.limits)
