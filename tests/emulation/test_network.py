"""Real networks in the guest: one boot, many checks (network_checks.py), each a test of its own here."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.emulation import network_checks

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module")
def outcomes(repository: Path) -> dict[str, dict[str, Any]]:
    """Of every check, by name."""
    from testbed.emulation.guest.api import Guest, GuestSpec
    from testbed.emulation.guest.errors import GuestTimeout
    from testbed.emulation.kernel import require

    environment = {**os.environ, "PYTHONPATH": str(repository)}
    with Guest(GuestSpec(kernel=require(), cwd=repository, env=environment)) as guest:
        process = guest.start([sys.executable, network_checks.__file__])
        lines = []
        with contextlib.suppress(GuestTimeout):  # what was tried until then still counts
            for line in process.lines(timeout=1800):
                lines += [line] if line.startswith("{") else []
    return {outcome["check"]: outcome for outcome in map(json.loads, lines)}


@pytest.mark.parametrize("name", [check.__name__ for check in network_checks.ALL])
def test_network(outcomes: dict[str, dict[str, Any]], name: str) -> None:
    assert name in outcomes, "the checks ended before it"
    assert outcomes[name]["ok"], outcomes[name]["detail"]
