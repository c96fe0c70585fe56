"""What a probe answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    OK = "ok"
    MISSING = "missing"  # something the testbed would use is not there
    NOTE = "note"  # worth knowing, nothing to repair


@dataclass(frozen=True)
class Finding:
    """One thing about this machine: what was tried, what came of it, and the command that repairs it.

    A finding that is MISSING has a fix; `wanted_by` names the engines or steps that cannot do without it.
    """

    name: str
    state: State
    detail: str
    fix: str | None = None
    wanted_by: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.state is not State.MISSING
