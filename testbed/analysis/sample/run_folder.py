"""A small made-up run folder: for tests, benchmarks, and to teach the class archive what an analysis loads.

Brokers form a chain (or a tree with `fanout`), one per host on a star network; every link takes `latency_us`.
One publisher at the first broker, a subscriber at each broker from the second on. Each broker spends
MATCHING_US and each queue QUEUEING_US, so every number in the tables can be worked out by hand.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from protos.body import Body, Envelope
from protos.client_messages import Publication, Subscription
from protos.content_messages import Operator, Predicate
from protos.core_messages import Hello, PeerKind
from protos.envelope import encode, encoded_size
from protos.records import CaptureFile, FlowCounter, LogEvent, Manifest, PortCounter, ProbeResult
from testbed.analysis.sample.packets import Talk, write_capture
from testbed.run.folder import RunFolder
from testbed.topology import plan as p

EPOCH_US = 1_700_000_000_000_000
MATCHING_US, QUEUEING_US, SENDING_US = 40, 7, 3
FILTER = "[class,eq,'STOCK'],[price,>,10]"


@dataclass
class Sample:
    """What was put into the folder, for tests to compare with."""

    folder: RunFolder
    plan: p.Plan
    events: dict[str, list[LogEvent]] = field(default_factory=lambda: defaultdict(list))
    sent: list[tuple[int, str, str, bytes]] = field(default_factory=list)  # between brokers

    def log(self, node: str, t_us: int, kind: str, **fields: object) -> None:
        process = self.events[node]
        process.append(LogEvent(t_us=t_us, n=len(process) + 1, node=node, kind=kind, **fields))  # type: ignore[arg-type]

    def send(self, t_us: int, a: str, b: str, body: Body, hops: int = 0) -> None:
        """A message between brokers: in the sender's log and on the wire."""
        self.send_bytes(t_us, a, b, body.type, encode(Envelope(body, hops, 0, 1)))

    def send_bytes(self, t_us: int, a: str, b: str, type: str, envelope: bytes) -> None:
        """The same for a message of any type, known here or not."""
        self.sent.append((t_us, a, b, envelope))
        if type != Publication.type:
            self.log(a, t_us, "SENT", type=type, peer=b, bytes=len(envelope))


def make_run(
    path: Path,
    brokers: int = 3,
    publications: int = 20,
    fanout: int = 1,
    latency_us: int = 5_000,
    capture: bool = True,
    run: str = "r1",
    period_us: int = 100_000,
) -> Sample:
    plan = make_plan(brokers, fanout, latency_us)
    sample = Sample(RunFolder(path), plan)
    sample.folder.create()
    _start(sample)
    for number in range(publications):
        _publish(sample, number, EPOCH_US + 10_000_000 + number * period_us)
    last_us = EPOCH_US + 13_000_000 + publications * period_us
    sample.log("harness", last_us, "RUN_ENDED")
    write(sample, last_us, capture, run)
    return sample


def make_plan(brokers: int, fanout: int, latency_us: int) -> p.Plan:
    names = [f"B{number}" for number in range(1, brokers + 1)]
    nodes = [p.Node("s1", "switch")]
    nodes += [p.Node(f"h{i}", "host", f"10.0.{i // 250}.{i % 250 + 1}") for i in range(1, brokers + 1)]
    links = [
        p.Link(f"h{i}-s1", f"h{i}", "s1", latency_us, bandwidth_bps=10**9) for i in range(1, brokers + 1)
    ]
    placed = [p.Broker(name, f"h{i}", nodes[i].address, 5000) for i, name in enumerate(names, 1)]
    overlay = [p.OverlayLink(names[i], names[(i - 1) // fanout]) for i in range(1, brokers)]
    clients = [p.Client("p1", "h1", "B1", advertisements=["[class,eq,'STOCK'],[price,isPresent,0]"])]
    subscribed = [p.SubscriptionPlan(FILTER, "low")]
    clients += [p.Client(f"c{i}", f"h{i}", f"B{i}", "low", [], subscribed) for i in range(2, brokers + 1)]
    settled = p.Gate(links_up=True, subscriptions_settled=True)
    phases = [p.Phase("settle", [*names, *[c.id for c in clients]], settled), p.Phase("publish", [])]
    return p.Plan("sample", 7, p.Network(nodes, links), placed, overlay, clients, phases=phases)


def _start(sample: Sample) -> None:
    for broker in sample.plan.brokers:
        sample.log(broker.id, EPOCH_US, "STARTED")
    for link in sample.plan.overlay:
        for a, b in ((link.a, link.b), (link.b, link.a)):
            sample.send(EPOCH_US + 1_000, a, b, Hello(a, PeerKind.BROKER, 1, 1))
            sample.log(a, EPOCH_US + 50_000, "LINK_UP", peer=b)
    predicates = (Predicate("class", Operator.EQ, "STOCK"), Predicate("price", Operator.GT, 10))
    for client in sample.plan.clients[1:]:
        sample.log(client.id, EPOCH_US + 100_000, "CONNECTED", peer=client.broker)
        key = {"message": f"{client.id}-s1", "content": FILTER, "group": "low"}
        sample.log(client.id, EPOCH_US + 200_000, "SUBSCRIBED", **key)
        for a, b in _flood(sample.plan, client.broker):
            sample.send(EPOCH_US + 150_000, a, b, Subscription(f"{client.id}-s1", client.id, predicates))
    sample.log("harness", EPOCH_US + 5_000_000, "PHASE_READY", detail="settle")
    for broker in sample.plan.brokers:
        used = {"queue": 2, "input_utilisation": 0.25, "output_utilisation": 0.5, "memory_bytes": 50_000_000}
        sample.log(broker.id, EPOCH_US + 9_000_000, "SAMPLED", **used)


def neighbours(plan: p.Plan) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {broker.id: [] for broker in plan.brokers}
    for link in plan.overlay:
        found[link.a].append(link.b)
        found[link.b].append(link.a)
    return found


def _flood(plan: p.Plan, start: str) -> list[tuple[str, str]]:
    """Links in the order in which a message from `start` crosses them."""
    near, crossed, seen = neighbours(plan), [], {start}
    queue = [start]
    for at in queue:
        for other in near[at]:
            if other not in seen:
                seen.add(other)
                crossed.append((at, other))
                queue.append(other)
    return crossed


def _publish(sample: Sample, number: int, at: int) -> None:
    message, price = f"p1:{number}", 5 + number % 10 * 2  # three in ten are too cheap for the subscribers
    content = f"[class,'STOCK'],[price,{price}]"
    sample.log("p1", at, "PUBLISHED", message=message, content=content, published_us=at)
    body = Publication(message, "p1", "p1-a1", at, {"class": "STOCK", "price": price}, b"x" * 100)
    hop = 2 * sample.plan.network.links[0].latency_us
    wanted = price > 10
    arrived = {"B1": (at, 0)}
    _process(sample, "B1", at, 0, message, wanted)
    for a, b in _flood(sample.plan, "B1") if wanted else []:
        left = arrived[a][0] + QUEUEING_US + MATCHING_US + SENDING_US
        hops = arrived[a][1] + 1
        arrived[b] = (left + hop, hops)
        size = encoded_size(Envelope(body, hops, 0, 1))
        known = {"peer": b, "message": message, "sending_us": SENDING_US, "hops": hops, "bytes": size}
        sample.log(a, left, "FORWARDED", type=body.type, **known)
        sample.send(left, a, b, body, hops)
        _process(sample, b, left + hop, hops, message, wanted)


def _process(sample: Sample, broker: str, at: int, hops: int, message: str, wanted: bool) -> None:
    done = at + QUEUEING_US + MATCHING_US
    spent = {"queueing_us": QUEUEING_US, "matching_us": MATCHING_US}
    sample.log(broker, done, "PROCESSED", message=message, hops=hops, **spent)
    for client in sample.plan.clients[1:]:
        if client.broker == broker and wanted:
            left = done + SENDING_US
            sent = {"type": Publication.type, "message": message, "peer": client.id}
            sample.log(broker, left, "NOTIFIED", sending_us=SENDING_US, bytes=150, **sent)
            published = int(sample.events["p1"][-1].published_us)
            known = {"message": message, "hops": hops, "group": "low", "published_us": published}
            sample.log(client.id, left + 2, "DELIVERED", **known)


def write(sample: Sample, last_us: int, capture: bool, run: str) -> None:
    folder, encoder = sample.folder, msgspec.json.Encoder()
    folder.plan.write_bytes(p.dump(sample.plan))
    folder.write_catalogue()
    for process, events in sample.events.items():
        lines = [encoder.encode(event) for event in sorted(events, key=lambda e: e.n)]
        (folder.events / f"{process}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    probes = [ProbeResult(EPOCH_US + i, "h1", "h2", 20_000, 20_000.0 + i % 10, i) for i in range(100)]
    (folder.probes / "h1.jsonl").write_bytes(encoder.encode_lines(probes))
    ports = [
        PortCounter(EPOCH_US + 10**6 * i, "s1", "h1", 10 * i, 1000 * i, 20 * i, 3000 * i) for i in (1, 2)
    ]
    (folder.controller / "ports.jsonl").write_bytes(encoder.encode_lines(ports))
    flows = [FlowCounter(EPOCH_US + 10**6 * i, "s1", "h1", 21 * i, 3100 * i, "h1") for i in (1, 2)]
    (folder.controller / "flows.jsonl").write_bytes(encoder.encode_lines(flows))
    captures = write_captures(sample) if capture else []
    known = {"engine": "guest", "clock": "virtual", "status": "done", "version": "0.1.0"}
    manifest = Manifest(run=run, name="sample", seed=7, first_us=EPOCH_US, last_us=last_us, **known)  # type: ignore[arg-type]
    manifest.captures = tuple(captures)
    folder.write_manifest(manifest)


def write_captures(sample: Sample) -> list[CaptureFile]:
    """What tcpdump on every host's interface would have seen of the overlay links, both directions."""
    address = {broker.id: (broker.address, broker.node) for broker in sample.plan.brokers}
    latency = 2 * sample.plan.network.links[0].latency_us
    talks: dict[str, list[Talk]] = defaultdict(list)
    for number, link in enumerate(sample.plan.overlay):
        talk = Talk((address[link.a][0], 40_000 + number), (address[link.b][0], 5000), latency * 1000)
        for t_us, a, b, envelope in sorted(sample.sent, key=lambda sent: sent[0]):
            if (a, b) == (link.a, link.b):
                talk.say(t_us * 1000, envelope, by_client=True)
            elif (a, b) == (link.b, link.a):
                talk.say(t_us * 1000, envelope, by_client=False)
        for broker in (link.a, link.b):
            talks[address[broker][1]].append(talk)
    captures = []
    for host, spoken in talks.items():
        file = sample.folder.pcap / f"{host}-{host}-eth0.pcap"
        packets = write_capture(file, spoken)
        captures.append(CaptureFile(f"pcap/{file.name}", host, f"{host}-eth0", packets, 0, 262_144))
    return captures
