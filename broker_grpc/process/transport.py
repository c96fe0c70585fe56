"""gRPC as this project uses it: one stream of raw bytes per peer, options decided here and nowhere else.

The environment must say GRPC_EXPERIMENTS before grpc is first imported in a process (importing this module
first does it): gRPC's event engine hands every message from thread to thread, and what is a switch of
threads here is a switch of processes to a guest kernel (the same run: 13 s of wall time instead of 9).
"""

from __future__ import annotations

import os

os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_client,-event_engine_listener")
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

import grpc
import grpc.aio

from broker_grpc.core.limits import Limits
from broker_grpc.process.tls import TlsFiles, channel_credentials, server_credentials

LINK = "/testbed.broker.Overlay/Link"
CONNECT = "/testbed.broker.PubSub/Connect"

# gRPC ends a stream on which a message above its limit comes in. Our own limit is lower, and answers with a
# Refusal; only what is far beyond it costs the stream.
HARD_LIMIT_FACTOR = 4
WINDOW_BYTES = 1 << 20

Options = list[tuple[str, int | str]]


def options(max_message_bytes: int) -> Options:
    hard = max_message_bytes * HARD_LIMIT_FACTOR
    return [
        ("grpc.max_receive_message_length", hard),
        ("grpc.max_send_message_length", hard),
        ("grpc.http2.lookahead_bytes", WINDOW_BYTES),
        ("grpc.http2.bdp_probe", 0),  # a fixed window: no probe packets, the same run every time
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.so_reuseport", 0),  # a second process on the same port must fail, not share
        ("grpc.use_local_subchannel_pool", 1),  # every client its own connection
        ("grpc.enable_http_proxy", 0),
        ("grpc.enable_retries", 0),
        ("grpc.service_config_disable_resolution", 1),
        ("grpc.enable_channelz", 0),
    ]


class Stream(Protocol):
    """Both ends look alike. `read` gives None at the end; any failure of the stream is StreamLost."""

    async def read(self) -> bytes | None: ...

    async def write(self, data: bytes) -> None: ...

    def remote_address(self) -> str:
        """IP address of the other end, as far as known."""
        ...

    def identities(self) -> Sequence[str]:
        """Names in the other end's certificate; empty without TLS."""
        ...


class StreamLost(Exception):
    """The stream is gone; the text says how."""


class AcceptedStream:
    def __init__(self, context: Any) -> None:
        self._context = context

    async def read(self) -> bytes | None:
        try:
            data = await self._context.read()
        except (grpc.RpcError, grpc.aio.BaseError) as error:
            raise StreamLost(describe(error)) from None
        return None if data is grpc.aio.EOF else data

    async def write(self, data: bytes) -> None:
        try:
            await self._context.write(data)
        except (grpc.RpcError, grpc.aio.BaseError) as error:
            raise StreamLost(describe(error)) from None

    def remote_address(self) -> str:
        return address_of(self._context.peer())

    def identities(self) -> Sequence[str]:
        return identities_of(self._context)


def identities_of(context: Any) -> list[str]:
    """Names and roles in the certificate of a call's other end; empty without TLS."""
    auth = context.auth_context()
    names = [*auth.get("x509_common_name", ()), *auth.get("x509_subject_alternative_name", ())]
    return [name.decode() for name in names]


class DialledStream:
    """One channel with one call; closing it closes the connection."""

    def __init__(
        self,
        address: str,
        method: str,
        *,
        max_message_bytes: int,
        tls: TlsFiles | None = None,
        server_name: str = "",
    ) -> None:
        self._address = address
        self._channel = open_channel(address, max_message_bytes, tls, server_name)
        self._call = self._channel.stream_stream(method)()

    async def read(self) -> bytes | None:
        try:
            data = await self._call.read()
        except (grpc.RpcError, grpc.aio.BaseError) as error:
            raise StreamLost(describe(error)) from None
        return None if data is grpc.aio.EOF else data

    async def write(self, data: bytes) -> None:
        try:
            await self._call.write(data)
        except asyncio.InvalidStateError as error:  # after `finish`, or after the end of the call
            raise StreamLost(str(error)) from None
        except (grpc.RpcError, grpc.aio.BaseError) as error:
            raise StreamLost(describe(error)) from None

    def remote_address(self) -> str:
        return self._address.rpartition(":")[0]

    def identities(self) -> Sequence[str]:
        return ()  # gRPC has checked the certificate against the name that was dialled

    async def close(self) -> None:
        """Ends our direction, so that all that was written arrives, and then the connection."""
        self._call.cancel()
        await self._channel.close()

    async def finish(self) -> None:
        """Graceful: says that nothing more will be written."""
        try:
            await self._call.done_writing()
        except (grpc.RpcError, grpc.aio.BaseError):
            return  # it is gone already


def open_channel(
    address: str, max_message_bytes: int, tls: TlsFiles | None = None, server_name: str = ""
) -> Any:
    """`server_name`: the broker id that the certificate must carry."""
    chosen = options(max_message_bytes)
    if tls is None:
        return grpc.aio.insecure_channel(address, options=chosen)
    if server_name:
        chosen.append(("grpc.ssl_target_name_override", server_name))
    return grpc.aio.secure_channel(address, channel_credentials(tls), options=chosen)


def new_server(address: str, handlers: Sequence[Any], limits: Limits, tls: TlsFiles | None) -> Any:
    """A grpc.aio server bound to exactly this address. RuntimeError when that is not possible.

    A connection on which nothing is said, not even HTTP/2, or no call is open, ends when the patience for a
    hello does: who only connects holds nothing for long.
    """
    patience_ms = max(1, limits.hello_timeout_us // 1000)
    server = grpc.aio.server(
        options=[
            *options(limits.max_message_bytes),
            ("grpc.server_handshake_timeout_ms", patience_ms),
            ("grpc.max_connection_idle_ms", patience_ms),
        ]
    )
    server.add_generic_rpc_handlers(tuple(handlers))
    if tls is None:
        server.add_insecure_port(address)
    else:
        server.add_secure_port(address, server_credentials(tls))
    return server


def describe(error: Exception) -> str:
    details = getattr(error, "details", None)
    text = details() if callable(details) else None
    return str(text or error or type(error).__name__)


def address_of(peer: str) -> str:
    """'10.0.0.1' from gRPC's 'ipv4:10.0.0.1:4567', '::1' from 'ipv6:%5B::1%5D:4567'."""
    host = peer.partition(":")[2].rpartition(":")[0]
    return host.replace("%5B", "").replace("%5D", "").strip("[]")
