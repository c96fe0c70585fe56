"""The coordinator is killed and started again, once in peace and once with a broker dying."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from protos.records import LogEvent
from testbed.run.folder import RunFolder
from tests.emulation.deployments import ROOT, events, latest, of_kind, run

GUEST = pytest.param("guest", marks=[pytest.mark.guest, pytest.mark.slow, pytest.mark.nightly])
TOPOLOGY = ROOT / "topologies" / "coordinator-restart.yaml"


def when(folder: RunFolder, second: float) -> int:
    """An instant of the file's timeline, in the time of the logs."""
    ready = [e.t_us for e in of_kind(folder, "PHASE_READY") if e.detail == "publishers"]
    return ready[0] + round(second * 1e6)


def rounds(folder: RunFolder, since_us: int, until_us: int) -> list[dict[str, object]]:
    told = sorted(of_kind(folder, "REPAIRED"), key=lambda e: e.t_us)
    return [json.loads(e.content) for e in told if since_us <= e.t_us < until_us]


def overlay_up(folder: RunFolder, after_us: int) -> int:
    return min(e.t_us for e in of_kind(folder, "OVERLAY_UP") if e.t_us >= after_us)


@pytest.mark.parametrize("engine", ["simulate", GUEST])
def test_the_overlay_is_recovered_and_repairs_and_deliveries_go_on(tmp_path: Path, engine: str) -> None:
    done = run("deploy", TOPOLOGY, "--engine", engine, "--results", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = latest(tmp_path, "coordinator-restart")
    assert len([e for e in of_kind(folder, "STARTED") if e.node == "C"]) == 3

    built = rounds(folder, 0, when(folder, 4))[-1]
    assert built["nodes"] == 8
    (recovered,) = rounds(folder, when(folder, 7), when(folder, 13))
    assert recovered["kind"] == "recover"
    assert (recovered["added"], recovered["removed"], recovered["links"]) == (0, 0, built["links"])

    (left,) = rounds(folder, when(folder, 13), when(folder, 20))
    assert (left["kind"], left["broker"], left["nodes"]) == ("leave", "B5", 7)

    (mended,) = rounds(folder, when(folder, 24), when(folder, 30))
    assert (mended["kind"], mended["nodes"]) == ("recover", 6), "B6 died while nobody coordinated"
    assert mended["added"], "it was needed"

    back = rounds(folder, when(folder, 30), when(folder, 36))
    assert (back[0]["kind"], {r["broker"] for r in back}) == ("join", {"B5"})
    assert back[-1]["topics"] == 2, "its subscriber found it again"

    gaps = [
        (when(folder, 12.9), overlay_up(folder, when(folder, 13))),
        (when(folder, 20.9), overlay_up(folder, when(folder, 24))),
    ]
    lost = missing(folder)
    outside = [e for e in lost if not any(start <= e.t_us <= end for start, end in gaps)]
    assert outside == [], "publications flow while there is no coordinator"
    assert len(of_kind(folder, "PUBLISHED")) > 1000


def missing(folder: RunFolder) -> list[LogEvent]:
    """What subscribers at brokers that live through it all should have got and did not."""
    file = yaml.safe_load(TOPOLOGY.read_text())
    topics = {row["at"]: (row["one"], row["two"]) for row in file["clients"]["sub"]["for_each"]}
    stable = {at: topics[at] for at in topics if at not in ("B5", "B6")}
    homes = {e.node: e.peer for e in events(folder) if e.kind == "CONNECTED"}
    got = {(e.node, e.message) for e in of_kind(folder, "DELIVERED")}
    subscribers = [
        (node, stable[at]) for node, at in homes.items() if node.startswith("sub") and at in stable
    ]
    assert len(subscribers) == 6
    return [
        e
        for e in of_kind(folder, "PUBLISHED")
        for node, wants in subscribers
        if any(f"'{topic}'" in e.content for topic in wants) and (node, e.message) not in got
    ]
