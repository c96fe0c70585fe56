"""The client of a broker: `Client` is the asyncio API; `machine` is the same without streams, for any driver.

    from broker_grpc.client import Client

The API is imported when it is asked for: a simulator that runs client machines needs no gRPC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from broker_grpc.client.api import Client, NotConnected, Notification, PublicationsLost, Refused

__all__ = ["Client", "NotConnected", "Notification", "PublicationsLost", "Refused"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from broker_grpc.client import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
