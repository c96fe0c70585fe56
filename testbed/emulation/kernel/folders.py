"""Where kernels and their sources live: a place for all users of a machine, and each user's own cache."""

from __future__ import annotations

import os
from pathlib import Path

SHARED = Path("/usr/local/lib/pubsub-testbed/kernel")
SHARED_VARIABLE = "TESTBED_SHARED_KERNELS"


def cache_folder() -> Path:
    """Where built kernels live ($XDG_CACHE_HOME/pubsub-testbed/kernel)."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "pubsub-testbed" / "kernel"


def shared_folder() -> Path:
    """Where a kernel for all users of this machine lives; $TESTBED_SHARED_KERNELS names another place."""
    return Path(os.environ.get(SHARED_VARIABLE) or SHARED)


def source_folder() -> Path:
    """Where downloaded kernel sources live."""
    return cache_folder() / "source"
