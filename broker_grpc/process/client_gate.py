"""PubSub.Connect: one stream per client."""

from __future__ import annotations

from collections.abc import Collection

from broker_grpc.errors import DrainingError, ProtocolError
from broker_grpc.process.gate import Gate
from broker_grpc.process.handshake import check_identity
from broker_grpc.process.runtime import Runtime
from broker_grpc.process.transport import AcceptedStream
from protos.core_messages import Hello


class ClientGate(Gate):
    """Lets clients in, and no new ones while the broker drains."""

    kind = "client"

    def __init__(self, hello_bytes: bytes, brokers: Collection[str], runtime: Runtime) -> None:
        """`brokers`: ids that no client may claim, connected or not."""
        super().__init__(runtime)
        self._hello = hello_bytes
        self._brokers = brokers
        self.draining = False

    def _check(self, stream: AcceptedStream, greeting: Hello) -> None:
        if self.draining:
            raise DrainingError("this broker takes no new clients: it is draining")
        check_identity(stream, greeting.id)
        if greeting.id in self._brokers:
            raise ProtocolError(f"{greeting.id!r} is the id of a broker")

    async def _answer(self, stream: AcceptedStream, peer: str) -> bytes:
        await stream.write(self._hello)
        return self._hello
