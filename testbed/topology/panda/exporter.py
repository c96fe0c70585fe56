"""A plan as a PANDA file: brokers in phase I, everything else in phase II at its earliest instant.

What PANDA cannot say (link qualities, faults, other sources than stock quotes, timed subscriptions) is left
out and named in comments.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from testbed.topology.plan import Broker, Client, Plan
from testbed.topology.show.describe import start_instants

SMALLEST_S = 0.01  # phase II is everything that does not start at exactly 0
BROKER = "bin/startbroker"
PUBLISHER = "demo/bin/stockquote/startSQpublisher.sh"
SUBSCRIBER = "demo/bin/stockquote/startSQsubscriber.sh"


@dataclass
class Exported:
    """The text, and what it does not say."""

    text: str
    notes: list[str] = field(default_factory=list)


def export_panda(plan: Plan) -> Exported:
    return _Exporter(plan).result()


class _Exporter:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.address = {node.id: node.address for node in plan.network.nodes}
        self.uri = {b.id: f"socket://{b.address}:{b.port}/{b.id}" for b in plan.brokers}
        self.notes: list[str] = []
        self.first_phase = set(plan.phases[0].start) if plan.phases else set()
        self.zero = plan.phases[0].gate.after_us + plan.phases[0].run_for_us if plan.phases else 0
        self.starts = start_instants(plan)

    def result(self) -> Exported:
        brokers = [self.broker(broker) for broker in self.plan.brokers]
        others: list[tuple[float, str]] = []
        for client in self.plan.clients:
            others += [(self.time(client.id), line) for line in self.client(client)]
        for program in self.plan.programs:
            text = f"ADD {program.id} {self.address[program.node]} {shlex.join(program.argv)}"
            others.append((self.time(program.id), text))
        others += self.removals()
        self.note_network()
        lines = [f"# {self.plan.name}, exported", *(f"# PANDA cannot say: {note}" for note in self.notes)]
        lines += ["# Phase 1", *[f"{number(time)} {line}" for time, line in brokers if time == 0]]
        later = [(time, line) for time, line in brokers if time > 0] + others
        lines += [
            "# Phase 2",
            *[f"{number(time)} {line}" for time, line in sorted(later, key=lambda one: one[0])],
        ]
        return Exported("\n".join(lines) + "\n", self.notes)

    def time(self, id: str) -> float:
        """Seconds after the overlay is up; 0 only for what the first phase starts."""
        if id in self.first_phase:
            return 0.0
        at = self.starts.get(id, (0, ""))[0]
        return max(SMALLEST_S, (at - self.zero) / 1_000_000)

    def broker(self, broker: Broker) -> tuple[float, str]:
        text = f"ADD {broker.id} {broker.address} {BROKER} -uri {self.uri[broker.id]}"
        dialled = [self.uri[link.b] for link in self.plan.overlay if link.a == broker.id]
        return self.time(broker.id), text + (f" -n {','.join(dialled)}" if dialled else "")

    def client(self, client: Client) -> list[str]:
        """A publisher's and a subscriber's line, as PANDA has one script for each."""
        head = f"ADD {{id}} {self.address[client.node]}"
        out = []
        plan = client.publications
        if plan is not None and plan.source == "stock" and "symbol" in plan.parameters:
            rate = 60_000_000 / plan.period_us
            delay = max(0.0, (plan.first_us - plan.period_us) / 1_000_000)
            id = client.id if not client.subscriptions else f"{client.id}-pub"
            symbol = shlex.quote(str(plan.parameters["symbol"]))
            arguments = f"-i {id} -s {symbol} -r {number(rate)} -d {number(delay)}"
            out.append(f"{head.format(id=id)} {PUBLISHER} {arguments} -b {self.uri[client.broker]}")
        elif plan is not None:
            self.notes.append(f"client {client.id}: publications of source {plan.source}")
        if client.subscriptions:
            filters = "/".join(subscription.filter for subscription in client.subscriptions)
            line = f"{head.format(id=client.id)} {SUBSCRIBER} -i {client.id} -s {quoted(filters)}"
            out.append(f"{line} -b {self.uri[client.broker]}")
            if any(subscription.at_us or subscription.until_us for subscription in client.subscriptions):
                self.notes.append(f"client {client.id}: times of single subscriptions")
        return out

    def removals(self) -> list[tuple[float, str]]:
        """Stops and leaves of processes that never come back."""
        node = {broker.id: broker.node for broker in self.plan.brokers}
        node |= {client.id: client.node for client in self.plan.clients}
        node |= {program.id: program.node for program in self.plan.programs}
        ready, at = {}, 0
        for phase in self.plan.phases:
            ready[phase.name] = at + phase.gate.after_us
            at = ready[phase.name] + phase.run_for_us
        out = []
        for event in self.plan.events:
            when = (ready[event.phase] + event.at_us - self.zero) / 1_000_000
            if event.action in ("stop", "leave"):
                out.append(
                    (max(SMALLEST_S, when), f"REMOVE {event.target} {self.address[node[event.target]]}")
                )
            elif event.action != "join":
                self.notes.append(f"{event.action} {event.target} at {event.phase}+{event.at_us / 1e6:g}s")
        return out

    def note_network(self) -> None:
        network = self.plan.network
        if any(link.latency_us for link in network.links) or network.pairs:
            self.notes.append("latencies and other qualities of links")
        if any(broker.options or broker.algorithm for broker in self.plan.brokers):
            self.notes.append("options and algorithms of brokers")


def quoted(text: str) -> str:
    """In double quotes, as in PANDA's own examples; only these four are special inside them."""
    for character in ("\\", '"', "$", "`"):
        text = text.replace(character, "\\" + character)
    return f'"{text}"'


def number(value: float) -> str:
    """To a millionth, without needless zeros."""
    return f"{value:.6f}".rstrip("0").rstrip(".")
