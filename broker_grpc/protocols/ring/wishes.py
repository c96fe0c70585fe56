"""Whom a ring wants links to, and why."""

from __future__ import annotations

from broker_grpc.protocols.ring.tables import Tables

LEAF, FINGER = "leaf", "finger"


def wishes(tables: Tables) -> dict[str, str]:
    """Neighbours on the ring are leaves, all others fingers; sorted by broker."""
    wanted = {one.broker: FINGER for entry in tables.entries.values() for one in entry}
    wanted |= {member.broker: LEAF for member in tables.neighbours()}
    return dict(sorted(wanted.items()))
