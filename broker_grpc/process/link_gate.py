"""Overlay.Link: one stream per overlay link, as the end sees it that is dialled."""

from __future__ import annotations

from collections.abc import Mapping

from broker_grpc.core.crossing import Crossing
from broker_grpc.errors import DuplicateError, ProtocolError
from broker_grpc.process.gate import Gate
from broker_grpc.process.handshake import check_link, hello
from broker_grpc.process.runtime import Runtime
from broker_grpc.process.transport import AcceptedStream
from protos.core_messages import Hello


class LinkGate(Gate):
    """Accepts links from the brokers that may dial us."""

    kind = "broker"

    def __init__(
        self, broker: str, crossing: Crossing, neighbours: Mapping[str, str], runtime: Runtime
    ) -> None:
        super().__init__(runtime)
        self._broker = broker
        self._crossing = crossing
        self._neighbours = neighbours

    def _check(self, stream: AcceptedStream, greeting: Hello) -> None:
        check_link(stream, greeting, self._neighbours, self._runtime.limits)
        if greeting.id in self._runtime.refused:
            raise ProtocolError(self._runtime.refused[greeting.id])
        if self._crossing.prevails(greeting.id):
            raise DuplicateError(self._crossing.refusal(greeting.id))

    async def _answer(self, stream: AcceptedStream, peer: str) -> bytes:
        """No dial of that peer begins meanwhile: it would be none that our hello tells of."""
        answer = hello(self._broker, "broker", self._crossing.answer_to(peer))
        self._crossing.answering.add(peer)
        try:
            await stream.write(answer)
        finally:
            self._crossing.answering.discard(peer)
        return answer
