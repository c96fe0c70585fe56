"""The cyclic garbage collector, told that a simulation makes almost no cycles.

Millions of live objects (routing tables) make every full collection long, and nothing is found: what a
message leaves behind is freed by counting references.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG, OLDER, OLDEST = 200_000, 20, 100


@contextmanager
def collected_rarely() -> Iterator[None]:
    """What is alive now is not looked at again; new objects are, but seldom. Undone at the end."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, OLDER, OLDEST)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
