"""The gRPC services of a broker process: Overlay, PubSub and, where it is asked for, Control."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from broker_grpc.process.client_gate import ClientGate
from broker_grpc.process.control_guard import ControlGuard
from broker_grpc.process.link_gate import LinkGate
from protos import broker_pb2 as pb

# isort: split
import grpc  # after transport, which sets its environment

Handler = Callable[[Any, Any], Awaitable[Any]]


class Controlled(Protocol):
    """What the Control service can ask of a process."""

    def status(self) -> dict[str, Any]: ...

    async def drain(self, timeout_us: int) -> int: ...

    def shut_down(self) -> None: ...


def service_handlers(
    links: LinkGate, clients: ClientGate, process: Controlled, guard: ControlGuard | None
) -> Sequence[Any]:
    """Without a guard there is no Control service."""
    handlers = [
        _service("testbed.broker.Overlay", {"Link": grpc.stream_stream_rpc_method_handler(links.accept)}),
        _service("testbed.broker.PubSub", {"Connect": grpc.stream_stream_rpc_method_handler(clients.accept)}),
    ]
    if guard is not None:
        handlers.append(_service("testbed.broker.Control", _control(process, guard)))
    return handlers


def _service(name: str, methods: dict[str, Any]) -> Any:
    return grpc.method_handlers_generic_handler(name, methods)


def _control(process: Controlled, guard: ControlGuard) -> dict[str, Any]:
    async def status(_request: Any, _context: Any) -> Any:
        return status_answer(process.status())

    async def drain(request: Any, _context: Any) -> Any:
        left = await process.drain(request.timeout_us)
        return pb.DrainAnswer(drained=not left, left=left)

    async def shut_down(_request: Any, _context: Any) -> Any:
        process.shut_down()
        return pb.ShutdownAnswer()

    return {
        "Status": _unary(status, pb.StatusRequest, guard),
        "Drain": _unary(drain, pb.DrainRequest, guard),
        "Shutdown": _unary(shut_down, pb.ShutdownRequest, guard),
    }


def _unary(handler: Handler, request: Any, guard: ControlGuard) -> Any:
    async def guarded(message: Any, context: Any) -> Any:
        if not guard.admits(context):
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "neither the run's secret nor the role")
        return await handler(message, context)

    return grpc.unary_unary_rpc_method_handler(
        guarded, request_deserializer=request.FromString, response_serializer=_serialize
    )


def _serialize(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data


def status_answer(status: dict[str, Any]) -> Any:
    links = [pb.LinkStatus(**link) for link in status["links"]]
    rest = {name: value for name, value in status.items() if name != "links"}
    return pb.StatusAnswer(links=links, **rest)
