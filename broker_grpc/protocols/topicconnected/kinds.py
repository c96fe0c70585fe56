"""Kinds of log records of its own; the coordinator writes them."""

from __future__ import annotations

from protos.kinds import register

JOINED = register(
    60, "JOINED", "topicconnected", own=True
)  # broker `peer` is a member now; `content` its topics
LEFT = register(
    61, "LEFT", "topicconnected", own=True
)  # broker `peer` is none any more; `detail` how that was noticed
# Links for a new round are decided; `content` the round's numbers as JSON.
REPAIRED = register(62, "REPAIRED", "topicconnected", own=True)
# All decided links are up, `duration_us` after the first change since the last time.
OVERLAY_UP = register(63, "OVERLAY_UP", "topicconnected", own=True)
