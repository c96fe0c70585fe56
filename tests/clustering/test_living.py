"""Channels on rings that keep themselves: farewells, deaths and returns that only the ring tells of."""

from __future__ import annotations

from broker_grpc.protocols.clustering.options import TamaraSettings
from broker_grpc.protocols.clustering.settings import ClusteringSettings
from broker_grpc.protocols.rendezvous.settings import PastryRing
from tests.clustering.ground import SECOND, Clustered
from tests.clustering.test_brokers import NAMES, RATES, TOPICS, everyone_wants
from tests.rendezvous.living import LivingGround
from tests.ring.ring_network import QUICK

RING = PastryRing(base_bits=2, bootstrap="converged", leaves=6, **QUICK)  # type: ignore[arg-type]
SETTINGS = TamaraSettings(
    heartbeat_interval_us=SECOND, silence_us=2_500_000, retry_us=500_000, refresh=3, patience_us=800_000,
    linger_us=200_000, frequencies=RATES, clustering=ClusteringSettings(cadence=4), ring=RING,
)  # fmt: skip


class Living(Clustered, LivingGround):
    def until_right_again(self, seconds: int = 120) -> None:
        for _ in range(seconds):
            self.run(1)
            if self.is_right():
                return
        raise AssertionError(self.wrong_now())


def grouped() -> tuple[Living, int]:
    ground = Living(SETTINGS, NAMES)
    ground.run(5)
    everyone_wants(ground, TOPICS)
    ground.run(24)
    (only,) = ground.clusters()
    return ground, only


def test_a_cluster_outlives_the_farewell_the_death_and_the_return_of_its_broker() -> None:
    ground, cluster = grouped()
    content = set(ground.clusters()[cluster].content)
    leaver = ground.holder(cluster)
    ground.depart(leaver)
    ground.until_right_again()
    heir = ground.holder(cluster)
    assert heir != leaver
    assert not any("rebuilt" in event.content for event in ground.events("CLUSTERED")), "handed over"
    ground.vanish(heir)
    ground.until_right_again()
    assert ground.holder(cluster) not in (leaver, heir)
    assert any("rebuilt" in event.content for event in ground.events("CLUSTERED"))
    ground.begin(leaver)
    ground.until_right_again()
    assert ground.holder(cluster) == leaver, "its keys are its own again"
    assert set(ground.clusters()[cluster].content) == content
    ids = ground.tell_all(TOPICS)
    ground.run(2)
    for name in ground.alive():
        wanted = ground.at(name).interests.subscribed()
        assert {t: ground.got(name).count(i) for t, i in ids.items()} == {t: int(t in wanted) for t in ids}, (
            name
        )
    ground.check_never_twice()
