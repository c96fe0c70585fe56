"""The layer that a plan's `algorithm` asks for."""

from __future__ import annotations

from typing import Any

from broker_grpc.protocols.contentbased.layer import Layer
from broker_grpc.protocols.relocation.grape import Grape
from broker_grpc.protocols.relocation.pop import Pop
from broker_grpc.protocols.relocation.settings import PopSettings, settings


def layer_of(algorithm: dict[str, Any]) -> Layer | None:
    """None for plain routing; raises BrokerError for an unknown name or parameter."""
    chosen = settings(algorithm)
    if chosen is None:
        return None
    return Pop(chosen) if isinstance(chosen, PopSettings) else Grape(chosen)
