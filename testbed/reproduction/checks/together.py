"""Several findings that a claim takes as one."""

from __future__ import annotations

from collections.abc import Iterable


def together(outcomes: Iterable[bool | None]) -> bool | None:
    """They hold together: one that fails decides, else one that cannot tell; none at all cannot tell."""
    seen = set(outcomes)
    if False in seen:
        return False
    return None if None in seen or not seen else True
