"""The resolved experiment: what every engine executes.

A topology file is for people (defaults, groups, generators, units); a plan is for engines: every
process, link and event spelled out, all times in integer microseconds, nothing left to draw at
random but what a seed in it fixes. `plan.json` in the run folder is this structure.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

NodeKind = Literal["host", "switch"]


class Node(msgspec.Struct, omit_defaults=True):
    id: str  # at most 10 characters, [A-Za-z][A-Za-z0-9_-]*: it becomes part of interface names
    kind: NodeKind
    address: str = ""  # IPv4 of a host
    domain: str = ""  # e.g. transit-0, stub-0.1.2, region-A: for drawing and grouping
    x: float = 0.0
    y: float = 0.0


class Link(msgspec.Struct, omit_defaults=True):
    """A network link; latency, jitter and loss hold for each direction."""

    id: str
    a: str
    b: str
    latency_us: int = 0  # one way
    jitter_us: int = 0
    loss: float = 0.0  # probability, 0 to 1
    bandwidth_bps: int = 0  # 0 = not limited
    queue_packets: int = 0  # 0 = sized from bandwidth x delay
    tier: str = ""  # transit-transit, transit-stub, stub-stub, stub, access, ...
    penalty_us: int = 0  # added to the latency when paths are chosen (paths.py), never to packets


class PairLatency(msgspec.Struct, omit_defaults=True):
    """One-way latency from host a to host b, shaped per destination at a's interface.

    Used by `rtt_matrix` networks, whose latencies no set of links could give (triangle violations).
    It is added to the latency of the links on the path (which are 0 in such networks).
    """

    a: str
    b: str
    latency_us: int
    jitter_us: int = 0
    loss: float = 0.0


class Network(msgspec.Struct, omit_defaults=True):
    nodes: list[Node] = []
    links: list[Link] = []
    pairs: list[PairLatency] = []
    mininet: str = ""  # "module:Topo" when a Mininet Topo class is the network


class Broker(msgspec.Struct, omit_defaults=True):
    id: str
    node: str
    address: str
    port: int
    options: dict[str, Any] = {}  # broker_grpc.core.options.BrokerOptions, by name
    algorithm: dict[str, Any] = {}  # {"name": ..., its parameters}; empty = content-based routing
    group: str = ""
    on_crash: Literal["abort", "continue", "restart"] = "abort"
    seed: int = 0


class OverlayLink(msgspec.Struct, omit_defaults=True):
    """A broker-to-broker link; `a` dials `b`, or both dial and the stream of the smaller id stays."""

    a: str
    b: str
    dial: Literal["a", "both"] = "a"


class SubscriptionPlan(msgspec.Struct, omit_defaults=True):
    filter: str  # PADRES text form
    group: str = ""  # low, medium, high, ...
    at_us: int = 0  # after the client's start
    until_us: int = 0  # 0 = to the end


class PublicationPlan(msgspec.Struct, omit_defaults=True):
    """A seeded source of publications: `testbed.workload` turns it into a sequence."""

    source: str  # name of a source in testbed.workload.sources, e.g. stock, topic, fixed, trace
    parameters: dict[str, Any] = {}
    period_us: int = 1_000_000  # mean time between publications
    arrival: Literal["periodic", "poisson"] = "periodic"
    first_us: int = 0  # after the client's start; periodic sources start at a seeded offset otherwise
    count: int = 0  # 0 = until the end
    payload_bytes: int = 0


class Client(msgspec.Struct, omit_defaults=True):
    id: str
    node: str
    broker: str
    group: str = ""
    advertisements: list[str] = []  # PADRES text form
    subscriptions: list[SubscriptionPlan] = []
    publications: PublicationPlan | None = None
    seed: int = 0
    on_crash: Literal["abort", "continue", "restart"] = "abort"


class Program(msgspec.Struct, omit_defaults=True):
    """Any other process; argv is passed as it stands, never through a shell."""

    id: str
    node: str
    argv: list[str]
    env: dict[str, str] = {}
    group: str = ""
    on_crash: Literal["abort", "continue", "restart"] = "abort"


class Gate(msgspec.Struct, omit_defaults=True):
    """When a phase is ready. Conditions are met together."""

    links_up: bool = False  # every overlay link of started brokers verified in both directions
    subscriptions_settled: bool = False  # control messages sent = received everywhere, and quiet
    after_us: int = 0  # at least this long after the phase's start
    check: list[str] = []  # argv of a custom check, exit code 0 = met; run on check_node
    check_node: str = ""
    every_us: int = 500_000  # between two looks
    timeout_us: int = 60_000_000
    on_timeout: Literal["abort", "continue", "wait"] = "abort"


class Phase(msgspec.Struct, omit_defaults=True):
    name: str
    start: list[str] = []  # ids of brokers, clients, programs
    gate: Gate = msgspec.field(default_factory=Gate)
    run_for_us: int = 0  # after the ready instant, before the next phase


Action = Literal[
    "kill",  # crash: SIGKILL
    "stop",  # graceful
    "start",  # also restart after kill or stop
    "restart",
    "join",  # a broker or client that was in no phase's start list
    "leave",
    "link_down",
    "link_up",
    "reshape",
    "partition",  # arguments: nodes on one side
    "heal",
    "exchange",  # target orders; arguments: to, remove (two brokers)
    "set",  # arguments: options by name
]


class Event(msgspec.Struct, omit_defaults=True):
    """Flaps and churn are unrolled into these by the loader."""

    phase: str
    at_us: int  # after that phase's ready instant
    action: Action
    target: str = ""  # process id, link id
    arguments: dict[str, Any] = {}


class Capture(msgspec.Struct, omit_defaults=True):
    enabled: bool = True
    nodes: list[str] = []  # hosts; empty = every host with a broker
    snap_length: int = 0  # 0 = whole packets
    ring_megabytes: int = 0  # 0 = full
    clients: bool = False  # also the loopback traffic between clients and brokers of one host


class Probes(msgspec.Struct, omit_defaults=True):
    pairs: list[tuple[str, str]] = []  # hosts
    every_us: int = 1_000_000
    limit_relative: float = 0.0  # 0 = by clock: 1 % virtual, 5 % real
    limit_us: int = 0  # 0 = by clock: 200 virtual, 1000 real


class LogDetail(msgspec.Struct, omit_defaults=True, frozen=True):
    """What the brokers' logs count instead of telling it."""

    counted: list[str] = []  # types of messages
    journeys: float = 0.0  # share of the publications that are told whole all the same


EVERY_RECORD = LogDetail()  # by identity: a plan that counts nothing has no such field


class Check(msgspec.Struct, omit_defaults=True):
    """An expression over the tables of the run, evaluated by `testbed analyze`."""

    name: str
    expression: str


class Plan(msgspec.Struct, omit_defaults=True):
    name: str
    seed: int
    network: Network
    brokers: list[Broker] = []
    overlay: list[OverlayLink] = []
    clients: list[Client] = []
    programs: list[Program] = []
    phases: list[Phase] = []
    events: list[Event] = []
    capture: Capture = msgspec.field(default_factory=Capture)
    probes: Probes = msgspec.field(default_factory=Probes)
    checks: list[Check] = []
    tls: bool = False
    sample_every_us: int = 10_000_000  # SAMPLED events of the brokers
    log_detail: LogDetail = EVERY_RECORD
    version: int = 1


def dump(plan: Plan) -> bytes:
    return msgspec.json.format(msgspec.json.encode(plan), indent=1)


def load(data: bytes) -> Plan:
    return msgspec.json.decode(data, type=Plan)
