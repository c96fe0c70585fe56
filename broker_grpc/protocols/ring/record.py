"""What the log tells of a ring."""

from __future__ import annotations

import msgspec

from broker_grpc.protocols.ring.kinds import RING_CHANGED
from broker_grpc.protocols.ring.tables import Tables
from protos.records import LogEvent


def changed(tables: Tables, plane: int, broker: str, detail: str) -> LogEvent:
    around = {
        "plane": plane,
        "id": f"{tables.me.id:016x}",
        "predecessor": tables.predecessor.broker,
        "successor": tables.successor.broker,
    }
    return LogEvent(
        kind=RING_CHANGED, peer=broker, detail=detail, content=msgspec.json.encode(around).decode()
    )
