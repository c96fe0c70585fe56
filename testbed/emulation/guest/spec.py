"""What a guest is made of."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from testbed.emulation.kernel.cache import Kernel

Clock = Literal["virtual", "real"]

# 2024-01-01 00:00 UTC: a virtual clock starts at the same instant in every run, so runs repeat.
VIRTUAL_EPOCH_NS = 1_704_067_200 * 10**9
DEFAULT_MEMORY_MB = 4096


@dataclass(frozen=True)
class GuestSpec:
    """One guest machine.

    clock        virtual: time passes only while every process waits. real: as on the host.
    memory_mb    what the guest can use at most; the host gives it page by page, as it is touched.
    env          environment of the commands (default: this process's).
    cwd          their working directory.
    shared       folders that must be the host's even where the guest has a private one (below /tmp, /run).
    openvswitch  start Open vSwitch before the first command.
    seed         of the guest's random numbers in virtual time (addresses, ports, sequence numbers, hashes).
    cpu          host CPU to stay on; None takes the idlest and moves on when it is crowded, -1 does not pin.
    """

    kernel: Kernel
    memory_mb: int = DEFAULT_MEMORY_MB
    clock: Clock = "virtual"
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    cwd: Path = field(default_factory=Path.cwd)
    shared: tuple[Path, ...] = ()
    hostname: str = "guest"
    openvswitch: bool = False
    seed: int = 0
    cpu: int | None = None
