"""A plan in words: what `testbed deploy --dry-run` prints."""

from __future__ import annotations

import shlex

from testbed.topology.file.quantities import show_us
from testbed.topology.plan import Client, Event, Gate, Plan
from testbed.topology.show.estimate import Estimate, Machine, estimate, this_machine
from testbed.topology.show.summary import summarize, summary_lines


def describe(plan: Plan, machine: Machine | None = None) -> str:
    """Network, timeline, every process with its start, events, and the cost against this machine."""
    blocks = [
        [f"{plan.name} (seed {plan.seed})"],
        summary_lines(summarize(plan)),
        phase_lines(plan),
        process_lines(plan),
        event_lines(plan),
        observation_lines(plan),
        cost_lines(estimate(plan), plan, machine or this_machine()),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def phase_lines(plan: Plan) -> list[str]:
    """Phases with their gates; instants are the earliest possible, as gates can take longer."""
    out = ["phases (earliest instants)"]
    at = 0
    for phase in plan.phases:
        ready = at + phase.gate.after_us
        stay = f", then {show_us(phase.run_for_us)}" if phase.run_for_us else ""
        text = f"starts {len(phase.start)}; ready when {gate_text(phase.gate)}{stay}"
        out.append(f"  {show_us(at):>8}  {phase.name}: {text}")
        at = ready + phase.run_for_us
    out.append(f"  {show_us(at):>8}  end")
    return out


def gate_text(gate: Gate) -> str:
    conditions = []
    if gate.links_up:
        conditions.append("all overlay links are up")
    if gate.subscriptions_settled:
        conditions.append("all subscriptions have settled")
    if gate.after_us:
        conditions.append(f"{show_us(gate.after_us)} have passed")
    if gate.check:
        conditions.append(f"`{shlex.join(gate.check)}` succeeds")
    if not conditions:
        return "started"
    return " and ".join(conditions) + f" (at most {show_us(gate.timeout_us)}, else {gate.on_timeout})"


def start_instants(plan: Plan) -> dict[str, tuple[int, str]]:
    """Earliest start of every process in microseconds of the run, and how that instant is fixed."""
    starts: dict[str, tuple[int, str]] = {}
    ready: dict[str, int] = {}
    at = 0
    for phase in plan.phases:
        for id in phase.start:
            starts[id] = (at, phase.name)
        ready[phase.name] = at + phase.gate.after_us
        at = ready[phase.name] + phase.run_for_us
    for event in plan.events:
        if event.action in ("join", "start") and event.target not in starts:
            instant = f"{event.phase}+{show_us(event.at_us)}"
            starts[event.target] = (ready[event.phase] + event.at_us, instant)
    return starts


def process_lines(plan: Plan) -> list[str]:
    starts = start_instants(plan)
    rows = [("start", "phase", "id", "host", "what")]
    dials: dict[str, list[str]] = {}
    for link in plan.overlay:
        dials.setdefault(link.a, []).append(link.b)
    for broker in plan.brokers:
        to = f", dials {', '.join(dials[broker.id])}" if broker.id in dials else ""
        rows.append(
            (*_when(starts, broker.id), broker.id, broker.node, f"broker {broker.address}:{broker.port}{to}")
        )
    for client in plan.clients:
        rows.append((*_when(starts, client.id), client.id, client.node, client_text(client)))
    for program in plan.programs:
        rows.append(
            (*_when(starts, program.id), program.id, program.node, f"program {shlex.join(program.argv)}")
        )
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)) for row in rows]
    return [
        "processes (earliest start)",
        *(f"  {line}  {row[4]}" for line, row in zip(lines, rows, strict=True)),
    ]


def _when(starts: dict[str, tuple[int, str]], id: str) -> tuple[str, str]:
    at, how = starts.get(id, (0, "never"))
    return show_us(at), how


def client_text(client: Client) -> str:
    parts = []
    if client.publications:
        plan = client.publications
        rate = 60_000_000 / plan.period_us
        parts.append(f"publishes {plan.source} {rate:.6g}/min, first after {show_us(plan.first_us)}")
    if client.subscriptions:
        labels = ", ".join(sorted({s.group for s in client.subscriptions if s.group}))
        count = len(client.subscriptions)
        noun = "subscription" if count == 1 else "subscriptions"
        parts.append(f"{count} {noun}" + (f" ({labels})" if labels else ""))
    return f"client of {client.broker}: " + "; ".join(parts)


def event_lines(plan: Plan, limit: int = 40) -> list[str]:
    if not plan.events:
        return []
    lines = [f"  {event.phase}+{show_us(event.at_us)}: {event_text(event)}" for event in plan.events[:limit]]
    rest = len(plan.events) - limit
    return ["events", *lines, *([f"  ... and {rest} more (plan.json has all)"] if rest > 0 else [])]


def event_text(event: Event) -> str:
    arguments = ", ".join(f"{key}={value}" for key, value in event.arguments.items())
    return " ".join(part for part in (event.action, event.target, arguments) if part)


def observation_lines(plan: Plan) -> list[str]:
    hosts = plan.capture.nodes or sorted({broker.node for broker in plan.brokers})
    capture = f"packets of {len(hosts)} hosts" if plan.capture.enabled else "no packets"
    probes = f"{len(plan.probes.pairs)} probed pairs every {show_us(plan.probes.every_us)}"
    return [f"measured  {capture}; {probes}; broker samples every {show_us(plan.sample_every_us)}"]


def cost_lines(cost: Estimate, plan: Plan, machine: Machine) -> list[str]:
    fits = "fits" if cost.memory_mb < machine.memory_mb * 0.9 else "DOES NOT FIT"
    speed = f"{1 / cost.load:.1f} virtual seconds per second" if cost.load > 0 else "idle"
    processes = len(plan.brokers) + len({client.node for client in plan.clients}) + len(plan.programs)
    return [
        "estimate (rough)",
        f"  {cost.publications_per_s:.4g} publications/s, {cost.hops_per_s:.4g} broker hops/s, "
        f"{cost.deliveries_per_s:.4g} deliveries/s",
        f"  {cost.packets_per_s:.4g} packets/s sent by hosts, {cost.link_packets_per_s:.4g} link crossings/s",
        f"  {processes} processes, at most {cost.memory_mb} MB of {machine.memory_mb} MB: {fits}",
        f"  in a guest about {speed} at full activity (it uses one of {machine.cores} cores)",
    ]
