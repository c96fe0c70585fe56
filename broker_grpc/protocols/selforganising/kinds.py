"""Kinds of log records of its own."""

from __future__ import annotations

from protos.kinds import register

# A broker asks for a link to `peer`; `hops` the links of the path between them, `detail` its cost.
LINK_PROPOSED = register(522, "LINK_PROPOSED", "selforganising", own=True)
# What this broker pays for a link to `peer`, or by itself if there is none, from now on: `content`, a number.
PRICED = register(524, "PRICED", "selforganising", own=True)
# A request ended here without an exchange: `type` kept, unknown, refused or stale; `peer` who proposed it.
REQUEST_ENDED = register(523, "REQUEST_ENDED", "selforganising", own=True)
