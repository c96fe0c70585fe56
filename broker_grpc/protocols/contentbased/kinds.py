"""Kinds of log records of its own."""

from __future__ import annotations

from protos.kinds import register

# An exchange of links has ended here: `type` done, aborted or refused; `message` its id; `content` the four
# ends "added added removed removed"; `hops` the links of its cycle; `duration_us` since it began here;
# `detail` the reason, or what whoever ordered it had to say; `group` "ordered" at that broker.
EXCHANGED = register(510, "EXCHANGED", "contentbased", own=True)
