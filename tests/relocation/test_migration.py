"""Phase 3 (section 3.3): lossless, duplicate-free, O(M) messages, whatever the links do."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_grpc.core.options import BrokerOptions
from protos.body import Envelope
from tests.relocation.scene import FIGURE_1, Scene

STOCK = "[class,eq,'STOCK'],[symbol,eq,'{}']"


def figure_1() -> Scene:
    scene = Scene(FIGURE_1)
    for name, broker in (("s1", "B3"), ("s2", "B1"), ("s3", "B7"), ("s4", "B8"), ("s5", "B6"), ("s6", "B4")):
        scene.subscriber(name, broker, STOCK.format("YHOO"))
    scene.publisher("P", "B1", STOCK.format("YHOO"))
    return scene


def test_the_worked_example_updates_the_last_hops() -> None:
    """3.3: B6 a local destination, B5 -> B6, B1 -> B5."""
    scene = figure_1()
    scene.order("P", "B6")
    scene.net.settle()
    hops = {
        b: scene.net.broker(b).routing.srt.routes[scene.advertisement("P")].hop for b in ("B6", "B5", "B1")
    }
    assert hops == {"B6": "P", "B5": "B6", "B1": "B5"}
    scene.net.check_tables()


def test_the_worked_example_drops_and_forwards_subscriptions() -> None:
    """3.3: B1 and B5 drop the subscriptions from the right of B5 and forward those from the left."""
    scene = figure_1()
    scene.order("P", "B6")
    scene.net.settle()
    holders = {
        broker: {scene.net.broker(broker).routing.prt.routes[i].message.client for i in routes}
        for broker in ("B1", "B5", "B6")
        for routes in [scene.net.broker(broker).routing.prt.routes]
    }
    assert holders["B1"] == {"s1", "s2", "s6"}
    assert holders["B5"] == {"s1", "s2", "s6"}
    assert holders["B6"] == {"s1", "s2", "s3", "s4", "s5", "s6"}


def test_the_publisher_publishes_at_the_target_and_leaves_the_source() -> None:
    scene = figure_1()
    scene.order("P", "B6")
    scene.net.settle()
    scene.publish("P", **{"class": "STOCK", "symbol": "YHOO"})
    scene.net.settle()
    assert scene.net.peers_of("P") == ["B6"]
    scene.check_deliveries()


def test_a_migration_costs_messages_on_its_path_only() -> None:
    """2.2: O(M) messages, M brokers on the path; nobody else hears of it."""
    scene = figure_1()
    sent: Counter[str] = Counter()
    brokers: set[str] = set()

    def count(source: str, target: str, envelope: Envelope) -> None:
        sent[envelope.body.type] += 1
        brokers.update(x for x in (source, target) if x.startswith("B"))

    scene.net.on_send = count
    scene.order("P", "B6")
    scene.net.settle()
    assert brokers == {"B1", "B5", "B6"}
    assert sent["migration_update"] == sent["migration_complete"] == 2


def test_unadvertising_after_a_migration_reaches_everyone() -> None:
    scene = figure_1()
    scene.order("P", "B6")
    scene.net.settle()
    scene.net.apply("P", scene.publishers["P"].withdraw(scene.net.now_us, scene.tokens["P"]))
    scene.net.settle()
    assert all(len(scene.net.broker(b).routing.srt) == 0 for b in scene.layers)
    scene.net.check_tables()


def test_there_and_back_again_leaves_the_tables_as_they_were() -> None:
    scene = figure_1()
    before = {b: tables(scene, b) for b in scene.layers}
    for target in ("B6", "B3", "B1"):
        scene.order("P", target)
        scene.net.settle()
    assert {b: tables(scene, b) for b in scene.layers} == before


def tables(scene: Scene, broker: str) -> tuple[dict[str, str], dict[str, str]]:
    routing = scene.net.broker(broker).routing
    return {i: r.hop for i, r in routing.srt.routes.items()}, {
        i: r.hop for i, r in routing.prt.routes.items()
    }


# ---------------------------------------------------------------- properties


def random_scene(seed: int, options: BrokerOptions | None = None) -> tuple[Scene, Random]:
    random = Random(seed)
    size = random.randint(2, 9)
    links = [(f"B{random.randrange(i)}", f"B{i}") for i in range(1, size)]
    scene = Scene(links, options=options, seed=seed)
    symbols = ["A", "B"]
    for i in range(random.randint(1, 6)):
        text = random.choice(
            [STOCK.format(random.choice(symbols)), "[class,eq,'STOCK']", STOCK.format("A") + ",[n,>,5]"]
        )
        scene.subscriber(f"s{i}", f"B{random.randrange(size)}", text)
    for i in range(random.randint(1, 3)):
        scene.publisher(f"P{i}", f"B{random.randrange(size)}", STOCK.format(random.choice(symbols)))
    return scene, random


def act(scene: Scene, random: Random, steps: int) -> None:
    """Publishers publish and are ordered to move, again and again, while messages are in flight."""
    size = len(scene.layers)
    for step in range(steps):
        name = random.choice(sorted(scene.publishers))
        if random.random() < 0.25:
            item = scene.publishers[name].items[scene.tokens[name]]
            target = f"B{random.randrange(size)}"
            if item.home in scene.net.peers_of(name) and item.id and target != item.home:
                scene.order(name, target)
        else:
            symbol = scene.publishers[name].items[scene.tokens[name]].filter
            scene.publish(name, **{"class": "STOCK", "symbol": symbol_of(symbol), "n": step % 10})
        for _ in range(random.randrange(6)):
            scene.net.step()
    scene.net.settle()


def symbol_of(filter_: object) -> str:
    return next(p.value for p in filter_.predicates if p.attribute == "symbol")  # type: ignore[attr-defined]


@settings(max_examples=250, deadline=None)
@given(st.integers(0, 1_000_000))
def test_no_loss_and_no_duplicate_under_any_interleaving(seed: int) -> None:
    """Several publishers of overlapping content migrate at once, over the same links."""
    scene, random = random_scene(seed)
    act(scene, random, 40)
    scene.check_deliveries()
    scene.net.check_tables()


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 1_000_000), st.sampled_from(["lazy", "active"]))
def test_no_loss_and_no_duplicate_with_covering(seed: int, covering: str) -> None:
    options = BrokerOptions(subscription_covering=covering)  # type: ignore[arg-type]
    scene, random = random_scene(seed, options)
    act(scene, random, 30)
    scene.check_deliveries()


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1_000_000))
def test_a_broker_on_the_path_dies(seed: int) -> None:
    """The publisher ends at one of the two brokers, and nothing published after its resume is lost
    for subscribers that can still be reached from there."""
    random = Random(seed)
    size = random.randint(3, 8)
    links = [(f"B{i - 1}", f"B{i}") for i in range(1, size)]
    scene = Scene(links, seed=seed)
    for i in range(size):
        scene.subscriber(f"s{i}", f"B{i}", STOCK.format("A"))
    scene.publisher("P", "B0", STOCK.format("A"))
    scene.publish("P", **{"class": "STOCK", "symbol": "A", "n": 0})
    scene.net.settle()
    scene.order("P", f"B{size - 1}")
    for _ in range(random.randrange(60)):
        scene.net.step()
    victim = random.randrange(1, size - 1)
    scene.net.crash(f"B{victim}")
    scene.net.settle()
    scene.net.advance(60_000_000)
    at = scene.net.peers_of("P")
    assert at in (["B0"], [f"B{size - 1}"])
    mark = len(scene.published)
    scene.publish("P", **{"class": "STOCK", "symbol": "A", "n": 1})
    scene.net.settle()
    reachable = {f"s{i}" for i in range(size) if (i < victim) == (at == ["B0"]) and i != victim}
    scene.interests = {name: text for name, text in scene.interests.items() if name in reachable}
    scene.check_deliveries(scene.published[mark:])


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 1_000_000))
def test_the_target_dies(seed: int) -> None:
    random = Random(seed)
    size = random.randint(3, 8)
    links = [(f"B{random.randrange(i)}", f"B{i}") for i in range(1, size)]
    scene = Scene(links, seed=seed)
    for i in range(size - 1):
        scene.subscriber(f"s{i}", f"B{i}", STOCK.format("A"))
    scene.publisher("P", "B0", STOCK.format("A"))
    scene.order("P", f"B{size - 1}")
    for _ in range(random.randrange(60)):
        scene.net.step()
    if scene.publishers["P"].items[scene.tokens["P"]].home != "B0":
        return  # arrived before the crash
    scene.net.crash(f"B{size - 1}")
    scene.net.settle()
    scene.net.advance(60_000_000)
    assert scene.net.peers_of("P") == ["B0"]
    mark = len(scene.published)
    scene.publish("P", **{"class": "STOCK", "symbol": "A"})
    scene.net.settle()
    scene.check_deliveries(scene.published[mark:])
    scene.net.check_tables()


def test_a_second_order_during_the_first_is_refused() -> None:
    scene = figure_1()
    scene.order("P", "B6")
    scene.order("P", "B3")
    scene.net.settle()
    assert scene.net.peers_of("P") == ["B6"]
    scene.publish("P", **{"class": "STOCK", "symbol": "YHOO"})
    scene.net.settle()
    scene.check_deliveries()


@pytest.mark.parametrize("target", ["B2", "B8", "B4"])
def test_publications_made_while_paused_arrive_once_and_in_order(target: str) -> None:
    scene = figure_1()
    scene.order("P", target)
    ids = [scene.publish("P", **{"class": "STOCK", "symbol": "YHOO", "n": n}) for n in range(20)]
    scene.net.settle()
    for name in scene.interests:
        assert scene.net.plain(name).publications() == ids
