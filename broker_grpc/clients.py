"""PubSub.Connect: one stream per client."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from broker_grpc.conversation import converse
from broker_grpc.errors import BrokerError, DrainingError, ProtocolError
from broker_grpc.handshake import check_identity, check_taken, log_hellos, read_hello, refuse_hello
from broker_grpc.runtime import Runtime
from broker_grpc.session import Session
from broker_grpc.transport import AcceptedStream, StreamLost


class ClientGate:
    """Lets clients in, one stream per id, and no new ones while the broker drains."""

    def __init__(self, hello_bytes: bytes, brokers: Collection[str], runtime: Runtime) -> None:
        """`brokers`: ids that no client may claim, connected or not."""
        self._hello = hello_bytes
        self._brokers = brokers
        self._runtime = runtime
        self.draining = False

    async def connect(self, _requests: Any, context: Any) -> None:
        stream = AcceptedStream(context)
        try:
            session = await self._greet(stream)
        except BrokerError as error:
            await refuse_hello(stream, error, self._runtime.log)
        except StreamLost:
            return
        else:
            await converse(session, self._runtime)

    async def _greet(self, stream: AcceptedStream) -> Session:
        runtime = self._runtime
        greeting = await read_hello(stream, "client", runtime.limits)
        if self.draining:
            raise DrainingError("this broker takes no new clients: it is draining")
        check_identity(stream, greeting.id)
        if greeting.id in self._brokers:
            raise ProtocolError(f"{greeting.id!r} is the id of a broker")
        check_taken(stream, greeting, runtime.sessions.get(greeting.id))
        await stream.write(self._hello)
        # Another stream of the same peer may have been faster meanwhile.
        check_taken(stream, greeting, runtime.sessions.get(greeting.id))
        log_hellos(runtime.log, greeting, self._hello)
        return Session(greeting.id, "client", greeting.incarnation, stream, runtime.limits)
