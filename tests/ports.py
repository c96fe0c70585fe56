"""Ports for servers that tests start, given out before the server binds them."""

from __future__ import annotations

import contextlib
import os
import random
import socket
from collections.abc import Iterator
from functools import cache
from itertools import cycle

# Below the range from which outgoing connections get theirs: a restarted server finds its port free.
PORTS = range(15_000, 32_000)


def free_port() -> int:
    """Never the same twice in a test process, nor one that another worker of the same run may be given."""
    while True:
        port = next(own_ports())
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@cache
def own_ports() -> Iterator[int]:
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    ports = list(PORTS)[worker::workers]
    random.SystemRandom().shuffle(ports)  # another run of the tests may go on beside this one
    return cycle(ports)
