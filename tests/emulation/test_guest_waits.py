"""In virtual time a wait is exact, whoever waits: a thread for a deadline, for a lock, for a message."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.emulation.guest.api import Guest, GuestSpec
from testbed.emulation.kernel import KernelMissing, require

pytestmark = pytest.mark.guest

ROOT = Path(__file__).parents[2]

# How late a wait of so many seconds ends, us. The other end of the pipe stays silent.
WAITS = """
import asyncio, json, os, selectors, time
from broker_grpc.process.eventloop import ExactSelector, new_loop
reading, _ = os.pipe()
late = {"selector": {}, "loop": {}}
selector = ExactSelector()
selector.register(reading, selectors.EVENT_READ)
loop = new_loop()
for seconds in (0.0003, 0.001, 0.0015, 0.25, 1.0, 5.0, 31.0):
    begun = time.monotonic_ns()
    assert selector.select(seconds) == []
    late["selector"][seconds] = (time.monotonic_ns() - begun) / 1000 - seconds * 1e6
    begun = time.monotonic_ns()
    loop.run_until_complete(asyncio.sleep(seconds))
    late["loop"][seconds] = (time.monotonic_ns() - begun) / 1000 - seconds * 1e6
print(json.dumps(late))
"""


@pytest.fixture(scope="module")
def guest() -> Iterator[Guest]:
    try:
        kernel = require()
    except KernelMissing as error:
        pytest.skip(f"{error} ({error.hint})")
    with Guest(GuestSpec(kernel=kernel, memory_mb=768, shared=(ROOT,))) as guest:
        yield guest


def test_a_wait_is_as_long_as_it_was_asked_to_be(guest: Guest) -> None:
    done = guest.run([sys.executable, "-c", WAITS])
    assert done.code == 0, done.err
    for who, waits in json.loads(done.out).items():
        for seconds, late_us in waits.items():
            assert -1 <= late_us <= 20, (who, seconds, late_us)


def test_the_processors_frequency_need_not_be_measured(guest: Guest) -> None:
    """Else gRPC's Abseil measures it, for 255 ms, when a thread first waits for a lock."""
    folder = Path("/sys/devices/system/cpu/cpu0")
    done = guest.run(["cat", str(folder / "tsc_freq_khz")])
    assert done.code == 0, done.err
    assert int(done.out) > 0
    assert len(guest.run(["ls", str(folder)]).out.split()) > 1  # the kernel's own view shows through
