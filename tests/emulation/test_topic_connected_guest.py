"""A topic-connected overlay of real brokers: one is killed, one leaves, one comes back."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.emulation.deployments import ROOT, latest, of_kind, run

pytestmark = [pytest.mark.guest, pytest.mark.slow]


def test_the_overlay_is_repaired_and_the_others_miss_nothing(tmp_path: Path) -> None:
    topology = ROOT / "topologies" / "topic-connected.yaml"
    done = run("deploy", topology, "--engine", "guest", "--results", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = latest(tmp_path, "topic-connected")
    rounds = [json.loads(e.content) for e in of_kind(folder, "REPAIRED")]
    churn = [(r["kind"], r["broker"]) for r in rounds if r["kind"] in ("leave", "join")]
    # More leaves follow: at the end of the run all brokers stop.
    assert churn[:3] == [("leave", "B5"), ("leave", "B6"), ("join", "B5")]
    assert len(of_kind(folder, "OVERLAY_UP")) >= 5  # built, changed by the first topics, and the three
    # The subscribers of the two topics are at brokers that stay.
    published = {e.message for e in of_kind(folder, "PUBLISHED")}
    got = Counter((e.node, e.message) for e in of_kind(folder, "DELIVERED"))
    assert published
    assert set(got.values()) == {1}
    by_topic = {topic: {n for n, m in got if m.startswith(topic)} for topic in ("pub-B1", "pub-B2")}
    assert all(by_topic.values())
    missing = {
        (node, message)
        for message in published
        for node in by_topic[message.split("-t")[0]]
        if (node, message) not in got
    }
    assert missing == set()
