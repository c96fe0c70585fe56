"""What a client of a plan does and when, by a clock of the test's own."""

from __future__ import annotations

import random

from broker_grpc.machine import DeadlineReached, Effects, PeerUp, Send
from protos.body import Body, Envelope
from protos.client_messages import Publication, Subscription, Unsubscription
from protos.core_messages import Ack
from testbed.topology.plan import Client, PublicationPlan, SubscriptionPlan
from testbed.workload.script import ClientScript

START_US = 1_000_000


def sent(effects: Effects) -> list[Envelope]:
    return [effect.envelope for effect in effects if isinstance(effect, Send)]


def bodies(effects: Effects) -> list[type[Body]]:
    return [type(envelope.body) for envelope in sent(effects)]


def connected(plan: Client) -> ClientScript:
    """Started, connected, and with an answer to all that it asked for at once."""
    script = ClientScript(plan, {"B1": "127.0.0.1:1"})
    script.start(START_US)
    for envelope in sent(script.handle(START_US, PeerUp("B1", "broker", 1))):
        grant(script, START_US, envelope)
    return script


def grant(script: ClientScript, now_us: int, asked: Envelope) -> None:
    script.receive(now_us, "B1", Envelope(Ack(f"id{asked.request}", ""), 0, asked.request))


def test_a_subscription_comes_and_goes_at_its_times() -> None:
    """Both count from the start: that it came late does not make it go later."""
    wanted = SubscriptionPlan("[class,eq,'A']", at_us=200_000, until_us=500_000)
    script = connected(Client("c1", "h1", "B1", subscriptions=[wanted]))
    assert script.next_deadline_us() == START_US + 200_000
    asked = script.handle(START_US + 272_000, DeadlineReached())
    assert bodies(asked) == [Subscription]
    grant(script, START_US + 280_000, sent(asked)[0])
    assert script.next_deadline_us() == START_US + 500_000
    assert bodies(script.handle(START_US + 500_000, DeadlineReached())) == [Unsubscription]
    assert script.next_deadline_us() is None


def test_a_late_publication_makes_no_other_late() -> None:
    plan = PublicationPlan("stock", {"symbol": "YHOO"}, 5_000, first_us=10_000, count=300)
    script = connected(Client("p1", "h1", "B1", publications=plan, seed=5))
    rng = random.Random(1)
    times = []
    while (due := script.next_deadline_us()) is not None:
        times.append(due)
        assert bodies(script.handle(due + rng.randrange(5_000), DeadlineReached())) == [Publication]
    assert times == [START_US + 10_000 + n * 5_000 for n in range(300)]


def test_what_is_overdue_is_published_at_once() -> None:
    plan = PublicationPlan("stock", {"symbol": "YHOO"}, 5_000, first_us=10_000, count=300)
    script = connected(Client("p1", "h1", "B1", publications=plan, seed=5))
    assert bodies(script.handle(START_US + 31_000, DeadlineReached())) == [Publication] * 5
    assert script.next_deadline_us() == START_US + 35_000
