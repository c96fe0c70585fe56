"""A Mininet `Topo` class as network."""

from __future__ import annotations

from pathlib import Path

from testbed.topology.paths import Routing
from tests.topology.texts import only_problem, plan_of

CLASS = """\
from mininet.topo import Topo

class Dumbbell(Topo):
    def build(self):
        left, right = self.addSwitch("s1"), self.addSwitch("s2")
        self.addLink(left, right, delay="50ms", bw=10, loss=1, max_queue_size=100, jitter="1ms")
        for k in (1, 2):
            self.addLink(self.addHost(f"a{k}"), left, delay="1ms")
            self.addLink(self.addHost(f"b{k}", ip="10.1.0.%d/8" % k), right, delay="2ms")

class Broken(Topo):
    def build(self):
        raise RuntimeError("not today")
"""
TEXT = "name: x\nnetwork: {{mininet: 'my_topologies_{n}:{name}'}}\nbrokers: {{B: {{count: 4}}}}\n"


def written(folder: Path, name: str, n: int) -> str:
    (folder / f"my_topologies_{n}.py").write_text(CLASS)
    return TEXT.format(n=n, name=name)


def test_nodes_and_links_of_the_class(tmp_path: Path) -> None:
    plan = plan_of(written(tmp_path, "Dumbbell", 1), tmp_path)
    assert plan.network.mininet == "my_topologies_1:Dumbbell"
    assert {broker.node for broker in plan.brokers} == {"a1", "a2", "b1", "b2"}
    core = next(link for link in plan.network.links if {link.a, link.b} == {"s1", "s2"})
    assert (core.latency_us, core.jitter_us, core.loss, core.bandwidth_bps, core.queue_packets) == (
        50_000,
        1000,
        0.01,
        10_000_000,
        100,
    )
    assert Routing(plan.network).rtt_us("a1", "b2") == 2 * (1000 + 50_000 + 2000)
    assert {node.id: node.address for node in plan.network.nodes}["b2"] == "10.1.0.2"


def test_a_class_that_fails_is_a_problem_of_the_file(tmp_path: Path) -> None:
    found = only_problem(written(tmp_path, "Broken", 2), tmp_path)
    assert found.startswith("test.yaml:2:")
    assert "RuntimeError: not today" in found
    assert "AttributeError" in only_problem(written(tmp_path, "Absent", 3), tmp_path)
