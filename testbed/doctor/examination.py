"""All probes, in the order of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from testbed.doctor import (
    guest_boot,
    guest_engine,
    guest_kernel,
    host_engine,
    leftovers,
    protocols,
    resources,
)
from testbed.doctor.engines import choose, chosen
from testbed.doctor.finding import Finding, State

Probe = Callable[[], Finding]

# What decides between the engines, and what else a run needs.
ENGINE_PROBES: tuple[Probe, ...] = (
    host_engine.root,
    host_engine.netem,
    host_engine.openvswitch,
    guest_engine.processor,
    guest_engine.executable_memory,
    guest_engine.ptrace,
    guest_kernel.guest_kernel,
    resources.commands,
)
OTHER_PROBES: tuple[Probe, ...] = (
    guest_boot.guest_boot,  # a second or two, so not before every run: a run tells by itself
    guest_engine.kvm,
    resources.java,
    resources.disk,
    resources.memory,
    protocols.protocols,
    leftovers.leftovers,
)


def examine(probes: Iterable[Probe] = ENGINE_PROBES + OTHER_PROBES) -> list[Finding]:
    """Run the probes. A probe that fails itself is a finding too: the others still report."""
    return [run(probe) for probe in probes]


def run(probe: Probe) -> Finding:
    try:
        return probe()
    except Exception as error:  # whatever happens to one probe, the report is made
        fix = "testbed doctor --debug"
        return Finding(probe.__name__, State.MISSING, f"the probe failed: {error!r}", fix)


def engine_choice() -> tuple[str, str]:
    """The engine that `auto` takes here, and why. Raises a TestbedError with the repair when none can run."""
    return chosen(choose(examine(ENGINE_PROBES)))
