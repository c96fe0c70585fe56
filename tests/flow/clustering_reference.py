"""The overall cost and the invariants of section 2, recounted from what users are subscribed to."""

from __future__ import annotations

from broker_grpc.protocols.clustering.costs import Costs, Overall
from testbed.flow.clustering.system import System, bits


def recount(system: System) -> Overall:
    """By the formulas as printed: size(t) and size(c) are counted over all users."""
    costs: Costs = system.costs
    topics = range(system.topics)
    size = {t: sum(held >> t & 1 for held in system.direct_of) for t in topics}
    members = {c: sum(c in mine for mine in system.clusters_of) for c in system.clusters}
    content = {c: set(bits(cluster.topics)) for c, cluster in system.clusters.items()}
    maintenance = sum(costs.maintain(size[t]) for t in topics)
    maintenance += sum(costs.maintain(members[c]) + costs.associate(len(content[c])) for c in content)
    dissemination = 0.0
    for t in topics:
        channels = costs.notify + costs.disseminate(size[t])
        channels += sum(costs.notify + costs.disseminate(members[c]) for c in content if t in content[c])
        dissemination += system.frequencies[t] * channels
    return Overall(maintenance, dissemination)


def check(system: System) -> None:
    """Subscriptions cover interests; nothing is delivered twice but for clusters that overlap, of which the
    filter takes one; what is kept beside the subscriptions is what they say."""
    for user in range(system.users):
        by_clusters = system.delivered_by_clusters(user)
        direct, wanted = system.direct_of[user], system.interests_of[user]
        assert wanted & ~(direct | by_clusters) == 0, "covered"
        assert direct & ~wanted == 0, "nothing is held that nobody wants"
        assert direct & by_clusters == 0, "not directly and by a cluster"
        for row in range(system.topics):
            assert (user in system.held.of(row)) == bool(direct >> row & 1)
            assert (user in system.interested.of(row)) == bool(wanted >> row & 1)
        for row in system.clusters:
            assert (user in system.held.of(row)) == (row in system.clusters_of[user])
        assert system.clusters_of[user] <= set(system.clusters)
    for row, cluster in system.clusters.items():
        assert cluster.topics.bit_count() >= 2
        assert system.size(row) > 0
    for topic, rows in enumerate(system.clusters_with):
        assert rows == {r for r, c in system.clusters.items() if c.topics >> topic & 1}
    assert len({c.identity for c in system.clusters.values()}) == len(system.clusters)
    for mine, counted in zip(system.cost(), recount(system), strict=True):
        assert abs(mine - counted) < 1e-6 * max(1.0, counted)
