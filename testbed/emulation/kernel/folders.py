"""Where kernels and their sources live in the user's cache."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Where built kernels live ($XDG_CACHE_HOME/pubsub-testbed/kernel)."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "pubsub-testbed" / "kernel"


def source_folder() -> Path:
    """Where downloaded kernel sources live."""
    return cache_folder() / "source"
