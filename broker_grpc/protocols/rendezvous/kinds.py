"""Kinds of log records of its own."""

from __future__ import annotations

from protos.kinds import register

# `message` the topic, `peer` the parent; `content` children, root, subscribed and plane as JSON
TREE_CHANGED = register(588, "TREE_CHANGED", "rendezvous", own=True)
