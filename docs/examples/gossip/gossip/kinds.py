"""Kinds of log records of its own."""

from __future__ import annotations

from protos.kinds import register

REPEATED = register(1100, "GOSSIP_REPEATED", "gossip")  # to whom, and how many publications it had missed
