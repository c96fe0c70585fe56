"""The flow of DYNATOPS and its rivals against slow and obvious ones, integer for integer."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from broker_grpc.protocols.ring.converged import Converged
from broker_grpc.protocols.ring.identifiers import Member, id_of, key_of
from broker_grpc.protocols.ring.settings import RingSettings
from testbed.flow.dynatops.cells import CellNetwork, grid
from testbed.flow.dynatops.connected import Connected, linked
from testbed.flow.dynatops.hosting import Hosting
from testbed.flow.dynatops.measuring import Slot, measured
from testbed.flow.dynatops.network import Manager, Network
from testbed.flow.dynatops.overlay import Overlay, delays_of, overlay_of
from testbed.flow.dynatops.playing import Course, by_anybody, play
from testbed.flow.dynatops.similar import Placement, clusters_of
from testbed.flow.dynatops.story import Story, of_changes, of_visits, start_of
from testbed.workload.checkins import Map, Mobility, friends, visits
from testbed.workload.topic_changes import Population, changes
from tests.flow.dynatops_reference import Brokers, length, tree

BROKERS, TOPICS, USERS = 12, 30, 60
RINGS = [("chord", 4), ("tapestry", 1), ("tapestry", 2), ("tapestry", 4)]


def a_story(seed: int, rate: float = 0.3, hours: int = 6) -> Story:
    random = np.random.default_rng(seed)
    population = Population(USERS, TOPICS, each=3, pattern="modes", modes=5)
    start, made = changes(population, rate, hours, random)
    return of_changes(start, made, TOPICS)


def a_ring(kind: str, bits: int, seed: int) -> tuple[Converged, Overlay]:
    members = [Member(id_of(f"{b} {seed}"), str(b)) for b in range(BROKERS)]
    ring = Converged(members, RingSettings(kind=kind, base_bits=bits))  # type: ignore[arg-type]
    return ring, overlay_of(ring, [key_of(str(t)) for t in range(TOPICS)])


def wanted(row: np.ndarray, topics: int = TOPICS) -> frozenset[int]:
    return frozenset(int(t) for t in row if t != topics)


# ---------------------------------------------------------------- who wants what


def test_a_story_of_visits_is_that_of_its_users() -> None:
    """A user follows its own cell and those of its friends, from its first visit on."""
    area, random = Map(3, 4), np.random.default_rng(5)
    seen = visits(40, area, Mobility(days=20.0), random)
    followed = friends(40, 3, random)
    story = of_visits(seen, followed, area.cells)
    cell: dict[int, int] = {}
    told: dict[int, frozenset[int]] = {}
    row = 0
    for at in np.argsort(seen.begin, kind="stable"):
        mover = int(seen.user[at])
        cell[mover] = int(seen.cell[at])
        rows = [row]  # the mover's own request is the first of its visit
        while (row := row + 1) < story.user.size and story.published[row] < 0:
            rows.append(row)
        assert story.hour[rows[0]] == 24 * seen.begin[at]
        for one in rows:
            user = int(story.user[one])
            expected = {cell[user], *(cell[f] for f in followed[user].tolist() if f in cell)}
            assert wanted(story.after[one], area.cells) == expected
            assert wanted(story.before[one], area.cells) == told.get(user, frozenset())
            lost, gained = told.get(user, frozenset()) - expected, expected - told.get(user, frozenset())
            if user in told:
                assert {int(story.lost[one])} - {-1} == lost
                assert {int(story.gained[one])} - {-1} == gained
            told[user] = frozenset(expected)
        assert [int(story.user[r]) for r in rows if story.published[r] >= 0] == [mover]
    assert row == story.user.size > 500


# ---------------------------------------------------------------- which broker has whom


@pytest.mark.parametrize("with_user", [False, True])
@pytest.mark.parametrize("load_weight", [0.0, 2.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_users_go_where_the_machines_decision_sends_them(
    seed: int, load_weight: float, with_user: bool
) -> None:
    story, random = a_story(seed), Random(seed)
    groups = [[0, 3, 4, 7], [1, 2], [5, 6, 8, 9, 10, 11]]
    of = np.zeros(BROKERS, np.int32)
    for k, group in enumerate(groups):
        of[group] = k
    placement = Placement(clusters_of(of), load_weight, with_user=with_user)
    slow, hosting = Brokers(groups, load_weight, with_user), Hosting(story, BROKERS)
    home = np.array([random.randrange(3) for _ in range(USERS)], np.int32)
    for part, cuts in ((start_of(story), range(0, USERS + 1, 10)), (story, range(0, story.user.size, 9))):
        for begin, end in pairwise(cuts):
            rows = slice(begin, end)
            placement.tell(hosting)
            slow.tell()
            placement.serve(hosting, part, rows, home[part.user[rows]])
            for row in range(begin, end):
                user = int(part.user[row])
                slow.place(user, wanted(part.after[row]), int(home[user]))
            assert hosting.at == [slow.users.get(user, (-1,))[0] for user in range(USERS)]
    assert hosting.turnover.handovers == slow.handovers
    codes = [(code // 2 // TOPICS, code // 2 % TOPICS, code % 2 == 1) for code in hosting.turnover.changed]
    net = Counter({one: n for one, n in Counter(codes).items()})
    assert sum(n if joined else -n for (_, _, joined), n in net.items()) == int((hosting.users > 0).sum())
    assert slow.handovers > 5 or not load_weight, "the plan is too dull to tell"


# ---------------------------------------------------------------- trees


@pytest.mark.parametrize(("kind", "bits"), RINGS)
def test_ways_up_are_those_of_the_ring(kind: str, bits: int) -> None:
    ring, overlay = a_ring(kind, bits, 3)
    for topic in range(TOPICS):
        expected = ring.depths(key_of(str(topic)))
        assert overlay.up[:, overlay.tree[topic]].tolist() == expected.tolist()


@pytest.mark.parametrize("links", [False, True])
@pytest.mark.parametrize(("kind", "bits"), RINGS)
def test_a_slot_takes_what_its_trees_take(kind: str, bits: int, links: bool) -> None:
    ring, overlay = a_ring(kind, bits, 4)
    random = np.random.default_rng(6)
    names = [member.broker for member in ring.members]
    position = np.array([names.index(str(b)) for b in range(BROKERS)], np.int16)
    users = random.integers(0, 3, (BROKERS, TOPICS)) * (random.random((BROKERS, TOPICS)) < 0.3)
    published = random.integers(0, 4, (BROKERS, TOPICS)).astype(float)
    half = np.triu(random.integers(1, 9, (BROKERS, BROKERS)), 1).astype(float)
    link = half + half.T if links else np.ones((BROKERS, BROKERS))
    broker = np.argsort(position).astype(np.int16)
    delays = delays_of(overlay, broker, link if links else None)
    found = measured(overlay, position, delays, Slot(users.astype(np.int32), published))
    delay = {(str(a), str(b)): float(link[a, b]) for a in range(BROKERS) for b in range(BROKERS)}
    in_tree = relays = to_root = total = model = 0.0
    for t in range(TOPICS):
        members = [str(b) for b in range(BROKERS) if users[b, t]]
        inside, routes = tree(ring, key_of(str(t)), members)
        root = ring.responsible(key_of(str(t)))
        events = published[:, t].sum()
        in_tree += events * max(len(inside) - 1, 0)
        relays += events * len(inside - set(members) - {root})
        model += events * sum(length(route, delay) for route in routes.values())
        for b in range(BROKERS):
            up = ring.route(str(b), key_of(str(t)))
            to_root += published[b, t] * (len(up) - 1)
            for member, route in routes.items():
                total += published[b, t] * users[int(member), t] * (length(up, delay) + length(route, delay))
    assert (found.in_tree, found.relays, found.to_root) == (in_tree, relays, to_root)
    assert found.delay == pytest.approx(total)
    assert found.model_delay == pytest.approx(model)
    assert found.relays > 0 or bits == 4


def test_a_manager_moves_brokers_when_it_is_worth_it() -> None:
    """What it estimates falls by what it gains and pays; no two brokers sit at one place."""
    story, hosting = a_story(1), Hosting(a_story(1), BROKERS)
    _, overlay = a_ring("chord", 4, 2)
    position = np.random.default_rng(1).permutation(BROKERS).astype(np.int16)
    networks = [
        Network(overlay, position.copy(), manager=Manager(2)), Network(overlay, position.copy()),
    ]  # fmt: skip
    home = np.arange(USERS, dtype=np.int32) % BROKERS
    hosting.assigned(start_of(story), slice(0, USERS), home)

    def serve(hosting: Hosting, rows: slice) -> None:
        hosting.assigned(story, rows, home[story.user[rows]])

    play(story, Course(6, 1, 1), hosting, serve, by_anybody(np.full(TOPICS, 500.0)), networks)
    managed, plain = networks
    assert [look.hour for look in managed.looks] == [2, 4, 6]
    assert any(look.moved for look in managed.looks)
    assert sorted(managed.position) == list(range(BROKERS))
    for look in managed.looks:
        assert (look.gain > 0) == (look.moved > 0)
        assert (look.messages > 0) == (look.moved > 0)
    assert managed.sums.arrivals == plain.sums.arrivals
    weight = managed.sums.relays + managed.sums.model_delay
    assert weight < plain.sums.relays + plain.sums.model_delay


# ---------------------------------------------------------------- rivals


def test_cells_are_reached_by_ever_nearer_ones_and_trees_end_where_nobody_is() -> None:
    overlay = grid(6, np.random.default_rng(2))
    assert (overlay.up <= overlay.apart).all(), "a far link is taken only when it is nearer"
    assert (overlay.up < overlay.apart).any()
    network = CellNetwork(overlay, np.arange(36, dtype=np.int16))
    random = Random(3)
    members: set[tuple[int, int]] = set()
    edges: set[tuple[int, int]] = set()
    spent = 0
    for _ in range(400):
        one = random.randrange(36), random.randrange(36)
        members ^= {one}
        network.subscriptions_changed([2 * (one[0] * 36 + one[1]) + (one in members)])
        now = {
            (topic, v)
            for broker, topic in members
            for v in _route(overlay, broker, topic)[:-1]
        }  # fmt: skip
        spent += len(now ^ edges)
        edges = now
    assert network.tree_messages == spent > 100


def _route(overlay: Overlay, v: int, root: int) -> list[int]:
    route = [v]
    while route[-1] != root:
        route.append(int(overlay.toward[route[-1], root]))
    return route


@pytest.mark.parametrize("renew", [False, True])
def test_every_topic_stays_connected_and_shortest_ways_are_taken(renew: bool) -> None:
    random = np.random.default_rng(4)
    tco = Connected(BROKERS, TOPICS, random, renew)
    users = (random.random((BROKERS, TOPICS)) < 0.3).astype(np.int32)
    tco.found(users > 0)
    for _ in range(8):
        before, spent = set(tco.links), tco.changed_links
        for broker in random.integers(BROKERS, size=3):
            users[broker] = random.random(TOPICS) < 0.3
        publishers = random.integers(BROKERS, size=TOPICS)
        tco.slot_over(Slot(users, np.ones((BROKERS, TOPICS)) / BROKERS), publishers)
        assert tco.changed_links - spent == len(before ^ tco.links)
        overlay = linked(users > 0, tco.links)
        for topic in range(TOPICS):
            assert _reached(overlay.edges(), np.flatnonzero(users[:, topic]).tolist())
    assert tco.reconfigurations > 4
    members = (users > 0).sum(axis=0)
    distances = tco._distances(users.T > 0, np.where(members > 0, users.argmax(axis=0), 0))
    for topic in range(TOPICS):
        inside = np.flatnonzero(users[:, topic]).tolist()
        if inside:
            expected = _hops(tco.links, inside, inside[0])
            assert {b: int(distances[topic, b]) for b in inside} == expected


def _reached(edges: set[tuple[int, int]], inside: list[int]) -> bool:
    return not inside or len(_hops(edges, inside, inside[0])) == len(inside)


def _hops(edges: set[tuple[int, int]], inside: list[int], start: int) -> dict[int, int]:
    found, front = {start: 0}, [start]
    while front:
        front = [
            b for b in inside if b not in found and any((a, b) in edges or (b, a) in edges for a in front)
        ]
        found |= dict.fromkeys(front, max(found.values()) + 1)
    return found
