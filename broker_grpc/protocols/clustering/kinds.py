"""Kinds of log records of its own."""

from __future__ import annotations

from protos.kinds import register

# `message` the channel; `content` operation, topics, users, estimate, threshold as JSON
CLUSTERED = register(612, "CLUSTERED", "clustering", own=True)
