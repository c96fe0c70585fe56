"""A caller of a broker's control service."""

from __future__ import annotations

from typing import Any

import grpc.aio

from broker_grpc.process.control_guard import SECRET_KEY
from broker_grpc.process.tls import TlsFiles
from broker_grpc.process.transport import open_channel
from protos import broker_pb2 as pb


class Orders:
    def __init__(
        self, address: str, secret: str = "", tls: TlsFiles | None = None, server_name: str = ""
    ) -> None:
        self._channel: grpc.aio.Channel = open_channel(address, 1 << 20, tls, server_name)
        self._metadata = ((SECRET_KEY, secret),) if secret else ()

    async def status(self) -> Any:
        return await self._call("Status", pb.StatusRequest(), pb.StatusAnswer)

    async def drain(self) -> Any:
        return await self._call("Drain", pb.DrainRequest(timeout_us=100_000), pb.DrainAnswer)

    async def shut_down(self) -> Any:
        return await self._call("Shutdown", pb.ShutdownRequest(), pb.ShutdownAnswer)

    async def _call(self, name: str, request: Any, answer: Any) -> Any:
        method = self._channel.unary_unary(
            f"/testbed.broker.Control/{name}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=answer.FromString,
        )
        return await method(request, metadata=self._metadata)

    async def close(self) -> None:
        await self._channel.close()

    async def __aenter__(self) -> Orders:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
