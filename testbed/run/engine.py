"""What an engine is, and which ones there are.

An engine runs a planned experiment whose folder is ready (plan.json, manifest.json) and leaves its results
there. It never runs a plan unshaped: what `probe` finds missing is an error, not a warning.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from testbed.errors import InputError, TestbedError, did_you_mean
from testbed.run.folder import RunFolder

Clock = Literal["virtual", "real", "simulated"]
Event = dict[str, Any]  # a line of progress: {"t": kind, ...}

# Where each engine lives; imported when used.
ENGINES = {
    "host": "testbed.emulation.host.engine:HostEngine",
    "guest": "testbed.emulation.guest.engine:GuestEngine",
    "simulate": "testbed.simulation.engine:SimulateEngine",
}


@dataclass(frozen=True)
class Ability:
    """Whether an engine can run here; if not, `why` and the command or option that helps."""

    usable: bool
    why: str
    fix: str | None = None


@dataclass(frozen=True)
class Options:
    clock: Clock
    keep: bool = False
    memory_mb: int = 0  # of a guest; 0 = sized from the plan


class Engine(Protocol):
    """One use: probe, start, execute, collect, stop, in this order."""

    name: str

    def clocks(self) -> tuple[Clock, ...]:
        """The clocks it has, its default first."""

    def probe(self) -> Ability: ...

    def start(self, run: RunFolder, options: Options) -> None:
        """Make ready; an error here means that nothing ran."""

    def execute(self, on_event: Callable[[Event], None]) -> int:
        """Run the plan to its end, telling of the progress. Returns 0, or 1 for a run not to be trusted."""

    def collect(self) -> None:
        """Bring into the run folder what is not there yet."""

    def stop(self, hard: bool = False) -> None:
        """While executing: end in order (`hard`: at once). Afterwards: let go of everything. Always safe."""


def engine(name: str) -> Engine:
    if name not in ENGINES:
        raise InputError(f"there is no engine {name!r}", hint=did_you_mean(name, [*ENGINES, "auto"]))
    module, _, cls = ENGINES[name].partition(":")
    made: Engine = getattr(importlib.import_module(module), cls)()
    return made


def choose(name: str, clock: str | None) -> tuple[Engine, Clock, str]:
    """The engine to use, its clock, and why. Raises when it cannot run here or lacks the clock."""
    reason = "as asked"
    if name == "auto":
        name, reason = automatic(clock)
    chosen, takes = engine(name), meant(name, clock)
    ability = chosen.probe()
    if not ability.usable:
        raise TestbedError(f"the {name} engine cannot run here: {ability.why}", hint=ability.fix)
    return chosen, takes, reason


def meant(name: str, clock: str | None, choice: str = "--engine ") -> Clock:
    """The engine's clock: the one asked for, or its own. Raises when it lacks it; `choice` is how the user
    names an engine."""
    clocks = engine(name).clocks()
    for known in clocks:
        if clock is None or clock == known:
            return known
    other = next((known for known in ENGINES if clock in engine(known).clocks()), None)
    hint = f"`{choice}{other}` has it" if other else f"its clocks: {', '.join(clocks)}"
    raise InputError(f"the {name} engine has no {clock} clock", hint=hint)


def automatic(clock: str | None) -> tuple[str, str]:
    """`host` where this kernel can shape links, else `guest`; virtual time exists in the guest only."""
    if clock == "virtual":
        return "guest", "virtual time was asked for"
    from testbed.doctor import engine_choice

    return engine_choice()
