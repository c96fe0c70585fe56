"""Which engine `auto` chooses on this machine, from what the probes found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from testbed.doctor.finding import Finding
from testbed.errors import TestbedError


@dataclass(frozen=True)
class Choice:
    """The engine `auto` takes; None when no engine can shape links here. `fix` repairs that."""

    engine: str | None
    reason: str
    fix: str | None = None


def choose(findings: Iterable[Finding]) -> Choice:
    """The host engine where this kernel can do it; else the guest. Never one that does not shape links."""
    by_name = {finding.name: finding for finding in findings}
    against_host = [*plain_user(by_name), *blockers(by_name.values(), "host")]
    if not against_host:
        return Choice("host", "root, netem and Open vSwitch all work on this kernel")
    against_guest = blockers(by_name.values(), "guest")
    why_not_host = f"the host engine cannot run here ({', '.join(against_host)})"
    if not against_guest:
        return Choice("guest", f"{why_not_host}; the guest kernel is ready")
    first = by_name[against_guest[0]]
    return Choice(None, f"{why_not_host}, nor the guest engine ({', '.join(against_guest)})", first.fix)


def plain_user(by_name: dict[str, Finding]) -> list[str]:
    """Not being root is nothing to repair, and yet it rules the host engine out."""
    root = by_name.get("root")
    return ["no root"] if root is not None and root.detail.startswith("plain user") else []


def blockers(findings: Iterable[Finding], engine: str) -> list[str]:
    return [finding.name for finding in findings if not finding.ok and engine in finding.wanted_by]


def chosen(choice: Choice) -> tuple[str, str]:
    """The choice as a deployment wants it: engine and reason, or an error that says what to repair."""
    if choice.engine is None:
        hint = f"{choice.fix} ('testbed doctor' shows all; --engine simulate needs none of it)"
        raise TestbedError(f"no engine can run here: {choice.reason}", hint=hint)
    return choice.engine, choice.reason
