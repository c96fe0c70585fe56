"""Clusters of topics on a run's page, from a few rows of the tables."""

from __future__ import annotations

import pandas

from testbed.report.clustered import at_the_end, cost_over_time, course, number_over_time, operations, spent


def row(
    time_s: float, channel: str, operation: str, topics: str = "a b", users: int = 5
) -> dict[str, object]:
    return {
        "time_s": time_s, "channel": channel, "broker": "B1", "operation": operation, "topic": "",
        "topics": topics, "users": users, "estimate": None, "threshold": None,
    }  # fmt: skip


CLUSTERS = pandas.DataFrame(
    [
        row(1, "cluster/1", "created", users=0),
        row(3, "cluster/1", "sampled"),
        row(4, "t1", "sampled", "t1"),
        row(5, "cluster/2", "created", "a b c", 0),
        row(6, "cluster/1", "destroyed", users=0),
        row(7, "cluster/2", "sampled", "a b c", 9),
    ]
)
PURPOSES = pandas.DataFrame(
    [
        {"link": "overlay", "window_s": window, "purpose": purpose, "messages": messages}
        for window, purpose, messages in (
            (0, "heartbeat", 10), (0, "tree", 2), (10, "data", 5), (10, "survey", 4), (10, "control", 99),
        )
    ]
    + [{"link": "client", "window_s": 0, "purpose": "data", "messages": 50}]
)  # fmt: skip


def test_clusters_come_and_go() -> None:
    assert course(CLUSTERS).values.tolist() == [[1, 1], [5, 2], [6, 1]]
    assert "At most 2 clusters at once, 1 at the end" in number_over_time(CLUSTERS, 20).text


def test_which_topics_and_how_many_users_they_have() -> None:
    assert at_the_end(CLUSTERS)[["channel", "topics", "users"]].values.tolist() == [["cluster/2", "a b c", 9]]
    assert operations(CLUSTERS).operation.tolist() == ["created", "created", "destroyed"]


def test_cost_is_stacked_by_its_parts_without_what_clients_get() -> None:
    assert spent(PURPOSES).values.tolist() == [[0, 12, 0, 0], [10, 0, 5, 4]]
    drawn = cost_over_time(PURPOSES)
    assert drawn.text.startswith("maintenance 12, dissemination 5, clustering 4")
    assert drawn.svg.count("<rect") >= 6
