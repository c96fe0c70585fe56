"""A publisher that moves along a chain while a broker between the two ends is killed, on any engine.

P is at B1, most of its subscribers at B5: POP takes it there. When it moves is known from a run
without the fault, so that the fault can be put at any moment of the migration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

SOURCE, KILLED, TARGET = "B1", "B3", "B5"
PUBLISHER = "P"
SIDES = {
    SOURCE: ("near", "beside"),
    TARGET: ("far1", "far2", "far3", "far4", "far5", "before"),
}  # of the broker that dies
QUIET_US = 5_000_000  # what is published at the very end may still be on its way
TOPOLOGY = """
name: lost-broker
seed: 1
duration: 40s
network: {{generator: chain, nodes: 5, link: {{latency: 100ms}}}}
defaults: {{client: {{lead: 2s}}}}
brokers: {{B: {{count: 5}}}}
overlay: {{generator: chain}}
algorithm: {{name: pop, threshold: 12, traced_per_window: 12, window_us: 5000000}}
clients:
  P: {{kind: publisher, broker: B1, publish: {{source: stock, rate: 10/s, parameters: {{symbol: A}}}}}}
  far: {{kind: subscriber, broker: B5, count: 5, subscribe: ["[class,eq,'STOCK']"]}}
  before: {{kind: subscriber, broker: B4, subscribe: ["[class,eq,'STOCK']"]}}
  beside: {{kind: subscriber, broker: B2, subscribe: ["[class,eq,'STOCK']"]}}
  near: {{kind: subscriber, broker: B1, subscribe: ["[class,eq,'STOCK']"]}}
events: [{events}]
capture: {{enabled: false}}
"""


class Event(Protocol):
    kind: str
    t_us: int
    node: str
    peer: str
    message: str
    hops: int


Run = Callable[[str], Sequence[Event]]  # of the topology with these faults


def moment(calm: Sequence[Event], share: float) -> str:
    """When the broker dies: after this share of the migration, as the topology file says it."""
    ready = next(e.t_us for e in reversed(calm) if e.kind == "PHASE_READY")
    begun = next(e for e in calm if e.kind == "MIGRATION_STARTED")
    ended = next(e for e in calm if e.kind == "MIGRATED")
    assert ended.peer == TARGET
    at_ms = (begun.t_us + int(share * (ended.t_us - begun.t_us)) - ready) // 1000
    return f"{{at: publishers+{at_ms}ms, kill: {KILLED}}}"


def check(events: Sequence[Event]) -> str:
    """The broker at which the publisher ended: one of the two, and nothing it publishes there is lost."""
    died = next(e.t_us for e in events if e.kind == "FAULT_STARTED")
    begun = next(e.t_us for e in events if e.kind == "MIGRATION_STARTED")
    outcome = [e for e in events if e.kind in ("MIGRATED", "MIGRATION_ABORTED") and e.node == PUBLISHER]
    assert outcome, "the migration never ended"
    resumed = outcome[0].t_us
    assert begun <= died < resumed, "the broker did not die while the publisher moved"
    where = outcome[0].peer
    assert where in (SOURCE, TARGET)
    end = max(e.t_us for e in events) - QUIET_US
    later = [e for e in events if e.kind == "PUBLISHED" and e.node == PUBLISHER and resumed <= e.t_us < end]
    assert len(later) > 50
    got = Counter((e.node, e.message) for e in events if e.kind == "DELIVERED")
    assert max(got.values()) == 1, "a publication was delivered twice"
    # The dead broker cut the overlay in two: those on the publisher's side get everything.
    lost = [(s, e.message) for e in later for s in SIDES[where] if (s, e.message) not in got]
    assert lost == []
    return where
