"""A stream after its hellos: read until it ends, and tell the runtime about every message."""

from __future__ import annotations

import asyncio
import contextlib

from broker_grpc.process.runtime import Runtime
from broker_grpc.process.session import Session
from broker_grpc.process.transport import StreamLost


async def converse(session: Session, runtime: Runtime) -> str:
    """Returns why the stream ended. Runs in the task that owns the stream."""
    writer = asyncio.create_task(session.write_loop(), name=f"write {session.peer}")
    reason = "cancelled"
    try:
        runtime.attach(session)
        reason = await _read_all(session, runtime)
    except asyncio.CancelledError:
        reason = session.closing or reason
        if not session.closing:
            raise
    except Exception as error:
        # A defect of ours: whoever owns the loop decides what becomes of the process.
        reason = f"{type(error).__name__}: {error}"
        message = f"a message of {session.peer} could not be handled"
        asyncio.get_running_loop().call_exception_handler({"message": message, "exception": error})
    finally:
        session.ended.set()
        runtime.detach(session, reason)
        writer.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await writer
    return reason


async def _read_all(session: Session, runtime: Runtime) -> str:
    read, received = session.stream.read, runtime.received
    try:
        while (data := await read()) is not None:
            received(session, data)
    except StreamLost as error:
        return str(error)
    return "closed by the peer"
