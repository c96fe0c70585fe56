"""Kinds of log records of its own. `message` is the version."""

from __future__ import annotations

from protos.kinds import register

# The manager's: `type` planned, low_demand, not_worth_it or no_reports; `content` the numbers as JSON
RECONFIGURATION_PLANNED = register(568, "RECONFIGURATION_PLANNED", "dynatops", own=True)
# `type` the step, `duration_us` from its order until all had acknowledged
STEP_DONE = register(569, "STEP_DONE", "dynatops", own=True)
# `type` done or aborted, `detail` why, `content` the messages of brokers and manager as JSON
RECONFIGURATION_ENDED = register(570, "RECONFIGURATION_ENDED", "dynatops", own=True)
# A broker's: `type` opened, default, closed or adopted; `content` its id as JSON
PLANE_CHANGED = register(571, "PLANE_CHANGED", "dynatops", own=True)
# `peer` the client, `detail` to which broker; `content` the utilities that decided, as JSON
PLACED = register(572, "PLACED", "dynatops", own=True)
