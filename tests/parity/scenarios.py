"""The scenarios of the parity suite: small topology files, one per thing that could differ.

Nothing may depend on which of two things happens first in the same instant: real processes that start
together do so in any order. So subscriptions that cover each other are one client's, and no two links have
the same latency (the flood of the check for cycles crosses those links that are up by then).
"""

from __future__ import annotations

from dataclasses import dataclass

# A program runs in the run folder; the simulator runs none.
ARRIVALS = """
programs:
  arrived:
    for_each: {host: [hr1, hr2, hr3, hr4]}
    node: "{host}"
    command: [tcpdump, -i, "{host}-eth0", -n, -p, -U, -Z, root, "--time-stamp-precision=nano",
              -w, "arrived-{host}.pcap", -Q, in, tcp]
"""


STILL = "bootstrap: converged, maintain: false"  # a ring without upkeep
PUBLISHERS_OF_TOPICS = """
    kind: publisher
    for_each: [{at: B1, topic: t3}, {at: B2, topic: t7}]
    broker: "{at}"
    publish: {source: topic, rate: 7/s, parameters: {topic: "{topic}"}}"""


@dataclass(frozen=True)
class Scenario:
    name: str
    network: str
    brokers: str = "B: {count: 4, place: one_per_node}"
    overlay: str = "{generator: chain}"
    options: str = "{}"
    algorithm: str = "{}"
    publishers: str = (
        "{kind: publisher, broker: B1, publish: {source: stock, rate: 4/s, parameters: {symbol: YHOO}}}"
    )
    subscribers: str = """
  all: {kind: subscriber, broker: B4, subscribe: ["[class,eq,'STOCK'],[symbol,eq,'YHOO']"]}
  some: {kind: subscriber, broker: B2, subscribe: ["[class,eq,'STOCK'],[volume,>,1000000]"]}
  none: {kind: subscriber, broker: B3, subscribe: ["[class,eq,'STOCK'],[symbol,eq,'IBM']"]}"""
    duration: str = "10s"
    events: str = "[]"
    phases: str = ""  # the usual ones
    drawn: bool = False  # delays are drawn: what happens once is not comparable
    lossy: bool = False  # packets are lost by chance: what arrives is captured as well

    def text(self) -> str:
        return f"""
name: parity-{self.name}
seed: 5
duration: {self.duration}
network: {self.network}
defaults:
  broker: {{on_crash: continue, options: {self.options}}}
  client: {{on_crash: continue, lead: 2s}}
brokers:
  {self.brokers}
overlay: {self.overlay}
algorithm: {self.algorithm}
clients:
  pub: {self.publishers}{self.subscribers}
events: {self.events}
{f"phases: {self.phases}" if self.phases else ""}
{ARRIVALS if self.lossy else ""}"""


CHAIN = "{generator: chain, nodes: 4, link: {latency: [8ms, 12ms]}}"
PAIRS = """
    kind: publisher
    for_each: [{symbol: YHOO, first: 2100ms}, {symbol: IBM, first: 2103ms}]
    broker: B1
    publish: {source: stock, rate: 4/s, first: "{first}"}"""
TWO_SIDES = """
    kind: publisher
    for_each: [{symbol: YHOO, at: B1, first: 2100ms}, {symbol: IBM, at: B3, first: 2103ms}]
    broker: "{at}"
    publish: {source: stock, rate: 40/s, first: "{first}"}"""
EVERYTHING = """
  far: {kind: subscriber, broker: B4, subscribe: ["[class,eq,'STOCK']"]}
  near: {kind: subscriber, broker: B3, subscribe: ["[class,eq,'STOCK']"]}"""
MOVING = """
  far: {kind: subscriber, broker: B4, subscribe: ["[class,eq,'STOCK'],[symbol,eq,'YHOO']"]}"""

SCENARIOS = {
    one.name: one
    for one in (
        Scenario("chain", CHAIN),
        Scenario(
            "tree",
            "{generator: tree, fanout: 2, nodes: 7, link: {latency: [2ms, 9ms]}}",
            brokers="B: {count: 7, place: one_per_node}",
            overlay="{generator: tree, fanout: 2}",
            publishers="{kind: publisher, for_each: {symbol: [YHOO, IBM]}, broker: random, "
            "publish: {source: stock, rate: 3/s}}",
        ),
        Scenario(
            "transit-stub",
            "{generator: transit_stub, transit_domains: 1, transit_nodes: 2, stubs_per_transit_node: 2, "
            "stub_nodes: 2}",
            brokers="B: {count: 6, place: random}",
            overlay="{generator: tree, fanout: 2}",
        ),
        Scenario(
            "jitter",
            "{generator: chain, nodes: 4, link: {latency: 20ms, jitter: 2ms}}",
            # Jitter is drawn by another generator, so quantiles agree only over many draws of one kind: one
            # subscriber behind one link. With 800 the standard error of the median is 0.07 ms.
            publishers="{kind: publisher, broker: B1, publish: {source: stock, rate: 20/s, "
            "parameters: {symbol: YHOO}}}",
            subscribers="""
  near: {kind: subscriber, broker: B2, subscribe: ["[class,eq,'STOCK'],[symbol,eq,'YHOO']"]}""",
            duration="40s",
            drawn=True,
        ),
        Scenario(
            "bandwidth",
            "{generator: chain, nodes: 4, link: {latency: [8ms, 12ms], bandwidth: 1 Mbit/s}}",
            publishers="{kind: publisher, broker: B1, publish: {source: stock, rate: 10/s, payload: 600B, "
            "parameters: {symbol: YHOO}}}",
        ),
        Scenario(
            "bottleneck",
            # A far and a near sender, whose packets meet at a slow link that has seldom room for both.
            """
  nodes: {far: {}, near: {}, end: {}, s: {kind: switch}, t: {kind: switch}}
  links:
    - {between: [far, s], latency: 61ms}
    - {between: [near, s], latency: 3ms}
    - {between: [s, t], latency: 7ms, bandwidth: 500 kbit/s}
    - {between: [t, end], latency: 2ms}""",
            brokers="""B1: {node: far}
  B2: {node: near}
  B3: {node: end}""",
            overlay="{links: [[B1, B3], [B2, B3]]}",
            publishers="""
    kind: publisher
    for_each: [{at: B1, symbol: YHOO, rate: 7/s}, {at: B2, symbol: IBM, rate: 8/s}]
    broker: "{at}"
    publish: {source: stock, rate: "{rate}", payload: 900B, parameters: {symbol: "{symbol}"}}""",
            subscribers="""
  all: {kind: subscriber, broker: B3, subscribe: ["[class,eq,'STOCK']"]}""",
        ),
        Scenario(
            "loss",
            "{generator: chain, nodes: 4, link: {latency: [8ms, 12ms], loss: 2%}}",
            duration="40s",
            lossy=True,
        ),
        Scenario(
            "covering",
            CHAIN,
            options="{subscription_covering: active, advertisement_covering: lazy}",
            subscribers="""
  wide: {kind: subscriber, broker: B4, subscribe: ["[class,eq,'STOCK']"]}
  narrow:
    kind: subscriber
    broker: B3
    subscribe: ["[class,eq,'STOCK'],[volume,>,3000000]", "[class,eq,'STOCK'],[volume,>,2000000]",
                "[class,eq,'STOCK'],[volume,>,1000000]"]""",
        ),
        Scenario(
            "service",
            CHAIN,
            options="{matching_us: 3000, control_us: 500, output_bandwidth: 50000}",
        ),
        Scenario(
            "link-failure",
            CHAIN,
            duration="16s",
            events="[{at: 4s, link_down: r2-r3}, {at: 6s, link_up: r2-r3}]",
        ),
        Scenario(
            "cut-pairs",
            CHAIN,
            duration="20s",
            publishers=PAIRS,
            subscribers=EVERYTHING,
            events="[{at: 4s, link_down: r2-r3}, {at: 6s, link_up: r2-r3}, "
            "{at: 11120ms, link_down: r3-r4}, {at: 12s, link_up: r3-r4}]",
        ),
        Scenario(
            "partition",
            CHAIN,
            duration="16s",
            publishers=PAIRS,
            subscribers=EVERYTHING,
            events="[{at: 4s, partition: [B3, B4]}, {at: 6500ms, heal: true}]",
        ),
        Scenario(
            "heartbeats",
            CHAIN,
            duration="26s",
            options="{heartbeat_interval_us: 500000, heartbeat_timeout_us: 400000, heartbeat_threshold: 2}",
            # Links are given up; what dials again knocks in vain, and is heard after the partition.
            events="[{at: 4s, partition: [B3, B4]}, {at: 9300ms, heal: true}]",
        ),
        Scenario(
            "cycle",
            CHAIN,
            # B4 dials the broker that finds the cycle, and is refused dial after dial; the other one that is
            # too much is ended by the broker that dialled it.
            overlay="{links: [[B1, B2], [B2, B3], [B3, B4], [B4, B2], [B1, B4]], cycles: allow}",
            phases="""
  - {name: overlay, start: [brokers], ready: {after: 5s}}
  - {name: subscribers, start: [subscribers], ready: {subscriptions_settled: true}}
  - {name: publishers, start: [publishers], ready: {subscriptions_settled: true, after: 2s}, run_for: 10s}""",
        ),
        Scenario(
            "broker-crash",
            CHAIN,
            duration="16s",
            events="[{at: 4100ms, kill: B3}, {at: 7100ms, start: B3}]",
        ),
        # Both ends of every link dial at once, and their hellos meet; of each link one stream stays.
        Scenario("both-dial", CHAIN, overlay="{generator: chain, dial: both}"),
        Scenario(
            "both-dial-equal",
            "{generator: chain, nodes: 4, link: {latency: 10ms}}",
            overlay="{generator: chain, dial: both}",
            options="{verify_tree: false}",  # all links are up in the same instant
        ),
        Scenario(
            "both-dial-apart",
            CHAIN,
            # Larger ids begin 7 ms earlier, so that their hellos are the first to arrive, and lose.
            overlay="{generator: chain, dial: both}",
            phases="""
  - {name: larger, start: [B2, B4], ready: {after: 7ms}}
  - {name: smaller, start: [B1, B3], ready: {links_up: true}}
  - {name: subscribers, start: [subscribers], ready: {subscriptions_settled: true}}
  - {name: publishers, start: [publishers], ready: {subscriptions_settled: true, after: 2s}, run_for: 10s}""",
        ),
        Scenario(
            "both-dial-crash",
            CHAIN,
            duration="16s",
            # Both neighbours dial the broker that is gone, and it dials both when it is back.
            overlay="{generator: chain, dial: both}",
            events="[{at: 4100ms, kill: B3}, {at: 7100ms, start: B3}]",
        ),
        Scenario(
            "both-dial-partition",
            CHAIN,
            duration="26s",
            # Both ends give the stream up and knock in vain, until one of them is heard.
            overlay="{generator: chain, dial: both}",
            options="{heartbeat_interval_us: 500000, heartbeat_timeout_us: 400000, heartbeat_threshold: 2}",
            events="[{at: 4s, partition: [B3, B4]}, {at: 9300ms, heal: true}]",
        ),
        Scenario(
            "churn",
            CHAIN,
            duration="16s",
            subscribers="""
  sub: {kind: subscriber, count: 8, broker: random, subscribe: ["[class,eq,'STOCK'],[symbol,eq,'YHOO']"]}""",
            events="[{at: 2s, churn: {of: [sub], rate: 40/min, lasts: 10s, away: 2s, keep: 3}}]",
        ),
        Scenario(
            "topic-connected",
            "{generator: star, nodes: 9, link: {latency: [2ms, 9ms]}}",
            brokers="""C: {algorithm: {name: coordinator, maintenance: shadow}}
  B: {count: 8, algorithm: {name: topic_connected, coordinator: C}}""",
            overlay="{generator: star}",
            publishers=PUBLISHERS_OF_TOPICS,
            subscribers="""
  sub: {kind: subscriber, count: 8, broker: "B{i}", topics: {topics: 12, per_client: 4}}""",
            duration="30s",
            events="[{at: 5s, kill: B5}, {at: 12s, leave: B6}, {at: 20s, start: B5}]",
        ),
        Scenario(
            "exchange",
            CHAIN,
            publishers=TWO_SIDES,
            subscribers=EVERYTHING,
            duration="6s",
            # Publications of both sides are under way all the while.
            events="[{at: 1001ms, exchange: {add: [B1, B4], remove: [B2, B3]}}]",
        ),
        Scenario(
            "exchange-killed",
            CHAIN,
            publishers=TWO_SIDES,
            subscribers=EVERYTHING,
            duration="12s",
            # In the middle of it; it returns with the links that the others have agreed upon.
            events="[{at: 1001ms, exchange: {add: [B1, B4], remove: [B2, B3]}}, {at: 1123ms, kill: B3},"
            " {at: 5100ms, start: B3}]",
        ),
        Scenario(
            "set",
            CHAIN,
            options="{matching_us: 300, control_us: 20}",
            subscribers=EVERYTHING,
            events="[{at: 4003ms, set: {broker: [B2, B3], options: {matching_us: 2000}}}]",
        ),
        *(
            Scenario(
                name,
                "{generator: star, nodes: 9, link: {latency: [2ms, 9ms]}}",
                brokers=f"""B:
    count: 8
    algorithm: {{name: {name}, ring: {{base_bits: 1, {STILL}}}, heartbeat_interval_us: 3000000}}""",
                overlay="{generator: none}",
                publishers=PUBLISHERS_OF_TOPICS,
                subscribers="""
  sub: {kind: subscriber, count: 8, broker: "B{i}", topics: {topics: 12, per_client: 4}}""",
                duration="20s",
                events="[{at: 2s, churn: {of: [sub], rate: 40/min, lasts: 12s, away: 2s, keep: 6}}]",
            )
            for name in ("scribe", "bayeux")
        ),
        *(
            Scenario(
                f"{name}-killed",
                "{generator: star, nodes: 9, link: {latency: [2ms, 9ms]}}",
                # The ring keeps itself: a broker leaves all tables, and joins again when it is back. In those
                # moments nothing is published: a process that starts needs some time that nobody plans.
                brokers=f"""B:
    count: 8
    algorithm:
      {{name: {name}, ring: {{base_bits: 1, bootstrap: converged}}, heartbeat_interval_us: 3000000}}""",
                overlay="{generator: none}",
                publishers=PUBLISHERS_OF_TOPICS.replace("rate: 7/s", "rate: 2/s, first: 2300ms"),
                subscribers="""
  sub: {kind: subscriber, count: 8, broker: "B{i}", topics: {topics: 12, per_client: 4}}""",
                duration="24s",
                events="[{at: 4350ms, kill: B5}, {at: 13350ms, start: B5}]",
            )
            for name in ("scribe", "bayeux")
        ),
        Scenario(
            "tamara",
            "{generator: star, nodes: 9, link: {latency: [2ms, 9ms]}}",
            # Topics become clusters while users come and go. Rounds and refreshes lie to the clock, which is
            # equal in both runs but for so many turns of the kernel's wheel: they have its period.
            brokers=f"""B:
    count: 8
    algorithm:
      {{name: tamara, ring: {{base_bits: 1, {STILL}}}, heartbeat_interval_us: 2560000, silence_us: 6000000,
       clustering: {{cadence: 2}}, refresh: 2, users: brokers, frequencies: {{t3: 14.0, t7: 14.0}}}}""",
            overlay="{generator: none}",
            publishers=PUBLISHERS_OF_TOPICS,
            subscribers="""
  sub: {kind: subscriber, count: 8, broker: "B{i}", topics: {topics: 12, per_client: 6}}""",
            duration="24s",
            events="[{at: 12s, churn: {of: [sub], rate: 40/min, lasts: 8s, away: 2s, keep: 6}}]",
        ),
        Scenario(
            "dynatops",
            "{generator: star, nodes: 9, link: {latency: [2ms, 9ms]}}",
            # Users are placed, and all brokers change their places while publications flow.
            brokers=f"""M: {{algorithm: {{name: reconfiguration, free_period_us: 8000000,
      stopping: next_worst, demand: 0.0}}}}
  B:
    count: 8
    algorithm: {{name: dynatops, manager: M, cluster_size: 4, update_us: 1000000, load_weight: 0.1,
      ring: {{{STILL}}}, heartbeat_interval_us: 3000000}}""",
            overlay="{generator: none}",
            publishers="""
    kind: publisher
    for_each: [{at: B1, topic: t3}, {at: B2, topic: t7}]
    broker: "{at}"
    publish: {source: topic, rate: 17/s, parameters: {topic: "{topic}"}}""",
            subscribers="""
  sub: {kind: subscriber, count: 8, broker: "B{i}", topics: {topics: 12, per_client: 4}}""",
            duration="20s",
        ),
        Scenario(
            "pop", CHAIN, algorithm="{name: pop, threshold: 8, window_us: 5000000}", subscribers=MOVING,
            duration="16s",
        ),
        Scenario(
            "grape", CHAIN, algorithm="{name: grape, threshold: 20}", subscribers=MOVING, duration="16s"
        ),
    )
}  # fmt: skip
