"""Where streams come in: greeted, checked, then spoken with until they end."""

from __future__ import annotations

from typing import Any, ClassVar

from broker_grpc.errors import BrokerError
from broker_grpc.machine import PeerKind
from broker_grpc.process.conversation import converse
from broker_grpc.process.handshake import check_taken, log_hello, log_sent, read_hello, refuse_hello
from broker_grpc.process.runtime import Runtime
from broker_grpc.process.session import Session
from broker_grpc.process.transport import AcceptedStream, StreamLost
from protos.core_messages import Hello


class Gate:
    """One kind of peer, one stream per id. Subclasses say who may come in."""

    kind: ClassVar[PeerKind]

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def accept(self, _requests: Any, context: Any) -> None:
        """The handler of the gRPC method."""
        stream = AcceptedStream(context)
        peer = ""
        try:
            greeting = await read_hello(stream, self.kind, self._runtime.limits)
            peer = greeting.id
            session = await self._greet(stream, greeting)
        except BrokerError as error:
            await refuse_hello(stream, error, self._runtime.log, peer)
        except StreamLost:
            return
        else:
            await converse(session, self._runtime)

    async def _greet(self, stream: AcceptedStream, greeting: Hello) -> Session:
        runtime = self._runtime
        log_hello(runtime.log, greeting)
        self._check(stream, greeting)
        check_taken(stream, greeting, runtime.sessions.get(greeting.id))
        answer = await self._answer(stream, greeting.id)
        log_sent(runtime.log, greeting.id, "hello", len(answer))
        # Another stream of the same peer may have been faster meanwhile.
        check_taken(stream, greeting, runtime.sessions.get(greeting.id))
        return Session(greeting.id, self.kind, greeting.incarnation, stream, runtime.limits)

    def _check(self, stream: AcceptedStream, greeting: Hello) -> None:
        """Raises BrokerError for a peer that may not come in."""
        raise NotImplementedError

    async def _answer(self, stream: AcceptedStream, peer: str) -> bytes:
        """Writes our hello; returns what was written."""
        raise NotImplementedError
