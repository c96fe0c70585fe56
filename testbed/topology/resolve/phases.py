"""Phases: who starts when, and gates that can be met."""

from __future__ import annotations

import re

from testbed.topology.file.quantities import DURATION, BadQuantity, parse
from testbed.topology.file.schema import TopologyFile
from testbed.topology.file.schema.timeline import GateSpec
from testbed.topology.plan import Gate, Phase
from testbed.topology.resolve.expand import Steps
from testbed.topology.resolve.names import Names
from testbed.topology.resolve.report import Report

_INSTANT = re.compile(r"\s*([A-Za-z][\w.-]*?)\s*(?:\+\s*(\S.*))?$")
DEFAULT_GATE_US = 60_000_000
SETTLE_US = 120_000_000


def build_phases(file: TopologyFile, names: Names, late: set[str], report: Report) -> list[Phase]:
    """The file's phases, or the default ones; `late` start by themselves and are in no phase."""
    if not file.phases:
        return default_phases(names, late, file.duration, file.defaults.client.lead)
    phases: list[Phase] = []
    started: set[str] = set()
    for i, spec in enumerate(file.phases):
        path: Steps = ("phases", i)
        if any(phase.name == spec.name for phase in phases):
            report.add((*path, "name"), f"duplicate phase {spec.name!r}", "name it otherwise")
        ids = names.look_up(spec.start, (*path, "start"), report)
        new = [id for id in ids if id not in started and id not in late]
        started.update(new)
        gate = build_gate(spec.ready, (*path, "ready"), names, report)
        check_gate(spec.ready, (*path, "ready"), started, names, report)
        phases.append(Phase(spec.name, new, gate, spec.run_for))
    return phases


def default_phases(names: Names, late: set[str], duration_us: int, lead_us: int) -> list[Phase]:
    """PANDA's two phases, and one more.

    Subscriptions travel towards advertisements, so the last gate waits until they have reached the
    publishers; these publish for the first time at its ready instant, `lead` after they start.
    """
    settled = Gate(subscriptions_settled=True, timeout_us=SETTLE_US)
    reached = Gate(subscriptions_settled=True, after_us=lead_us, timeout_us=lead_us + SETTLE_US)

    def present(which: str) -> list[str]:
        return [id for id in names.sets[which] if id not in late]

    return [
        Phase(
            "overlay",
            present("brokers") + present("programs"),
            Gate(links_up=True, timeout_us=DEFAULT_GATE_US),
        ),
        Phase("subscribers", present("subscribers"), settled),
        Phase("publishers", present("publishers"), reached, duration_us),
    ]


def build_gate(spec: GateSpec, path: Steps, names: Names, report: Report) -> Gate:
    node = names.hosts.get(spec.check_node, "")
    if spec.check_node and not node:
        report.unknown((*path, "check_node"), "node or broker", spec.check_node, names.hosts)
    return Gate(
        links_up=spec.links_up,
        subscriptions_settled=spec.subscriptions_settled,
        after_us=spec.after,
        check=spec.check,
        check_node=node,
        every_us=spec.every,
        timeout_us=patience_us(spec),
        on_timeout=spec.on_timeout,
    )


def patience_us(spec: GateSpec) -> int:
    """How long a phase waits in all: the gate is looked at all the time, so retries only make it longer."""
    return spec.timeout * (1 + spec.retries)


def check_gate(spec: GateSpec, path: Steps, started: set[str], names: Names, report: Report) -> None:
    """Refuse gates that can never be met."""
    brokers = started & set(names.sets["brokers"])
    for condition in ("links_up", "subscriptions_settled"):
        if getattr(spec, condition) and not brokers:
            hint = "start the brokers in this phase or an earlier one"
            report.add((*path, condition), f"{condition} can never be met: no broker has been started", hint)
    if spec.after >= patience_us(spec) and spec.on_timeout != "wait":
        hint = "make `timeout` longer than `after`, or `on_timeout: wait`"
        report.add((*path, "after"), "the gate can never be met: `after` is not before `timeout`", hint)
    if spec.check_node and not spec.check:
        report.add((*path, "check_node"), "check_node without a check", "add `check: [program, argument]`")


def instant(text: str, phases: list[Phase], path: Steps, report: Report) -> tuple[str, int] | None:
    """(phase, microseconds after its ready instant) of `publishers+5s`, `publishers` or `5s`."""
    known = [phase.name for phase in phases]
    try:
        return known[-1], int(parse(text, DURATION))
    except BadQuantity:
        pass
    match = _INSTANT.match(text)
    if match is None:
        report.add(path, f"{text!r} is no instant", "write it like publishers+5s")
        return None
    if match[1] not in known:
        report.unknown(path, "phase", match[1], known)
        return None
    try:
        return match[1], int(parse(match[2] or "0s", DURATION))
    except BadQuantity as error:
        message, _, hint = str(error).partition("; ")
        report.add(path, message, hint)
        return None
