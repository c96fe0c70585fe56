"""Kinds of log records of its own. A client that moves writes those of eventlog.proto, whatever moves it."""

from __future__ import annotations

from protos.kinds import register

SELECTED = register(
    33, "SELECTED", "relocation", own=True
)  # target `peer` chosen; `duration_us` the time it took
