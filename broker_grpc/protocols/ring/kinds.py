"""Kinds of log records of rings."""

from __future__ import annotations

from protos.kinds import register

# Broker `peer` came into the tables or went; `detail` how and why, `content` plane and neighbours as JSON.
RING_CHANGED = register(592, "RING_CHANGED", "ring", own=True)
