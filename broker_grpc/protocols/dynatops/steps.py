"""The steps of the reconfiguration protocol (section 5.1.2), as messages number them."""

from __future__ import annotations

from enum import IntEnum


class Step(IntEnum):
    NONE = 0
    INIT = 1
    OVERLAY = 2
    RESTORE = 3  # RCFG_PUBSUB, 3.1
    REPAIR = 4  # RCFG_PUBSUB, 3.2
    FINISH = 5
    RETIRE = 6
    ABORT = 7
