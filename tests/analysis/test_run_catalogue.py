"""A run folder's catalogue names the messages and records of plug-ins, which are not installed here."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from protos import catalogue
from protos.records import MessageType, RecordKind
from protos.varint import encode_varint
from testbed.analysis.evidence.runs import Run, load_runs
from testbed.analysis.sample import run_folder as sample
from testbed.analysis.wire.envelope import KnownMessages, Seen, classify
from testbed.analysis.wire.witness import witness
from testbed.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUMOUR, WHISPER, NEWER = 1024, 1025, 2000
RUMOURS, WHISPERS, NEWERS = 5, 3, 2


def envelope(number: int, id_: str) -> bytes:
    """As a plug-in would send it: one hop, and a first field that is text."""
    inner = b"\x0a" + encode_varint(len(id_)) + id_.encode()
    return b"\x08\x01\x10\x01" + encode_varint(number << 3 | 2) + encode_varint(len(inner)) + inner


def gossiping(path: Path, run: str) -> None:
    """B1 sends B2 rumours, which are data, whispers, and something that no catalogue knows."""
    made = sample.make_run(path, publications=4, run=run)
    numbers = {"rumour": (RUMOUR, RUMOURS), "whisper": (WHISPER, WHISPERS), "": (NEWER, NEWERS)}
    for kind, (number, times) in numbers.items():
        for at in range(times):
            made.send_bytes(sample.EPOCH_US + 6_000_000 + at, "B1", "B2", kind, envelope(number, f"r{at}"))
    made.events["B1"] = [event for event in made.events["B1"] if event.type or event.kind != "SENT"]
    made.log("B2", sample.EPOCH_US + 7_000_000, "RUMOUR_HEARD", peer="B1")
    last_us = max(event.t_us for events in made.events.values() for event in events)
    sample.write(made, last_us, True, run)
    listed = catalogue.builtin()
    listed.messages += (
        MessageType(RUMOUR, "rumour", "broker", True, "data_by_rumour", "gossip"),
        MessageType(WHISPER, "whisper", "broker", False, "chatter", "gossip"),
    )
    listed.kinds += (RecordKind(1000, "RUMOUR_HEARD"),)
    made.folder.catalogue.write_bytes(catalogue.encode(listed))


def wire_counts(run: Run) -> Counter[str]:
    facts = [row for capture in run.captures for row in witness(capture).to_pylist()]
    return Counter({row["type"]: row["messages"] for row in facts if row["fact"] == "count" and row["type"]
                    not in ("hello", "subscription", "publication")})  # fmt: skip


def test_messages_on_the_wire_have_the_names_of_the_runs_catalogue(tmp_path: Path) -> None:
    gossiping(tmp_path / "r1", "r1")
    (run,) = load_runs([tmp_path / "r1"])
    assert wire_counts(run) == {"rumour": RUMOURS, "whisper": WHISPERS, f"body_{NEWER}": NEWERS}
    assert run.purposes["whisper"] == "chatter"
    assert "RUMOUR_HEARD" in run.kinds


def test_a_folder_without_a_catalogue_is_read_with_that_of_the_project(tmp_path: Path) -> None:
    gossiping(tmp_path / "old", "old")
    (tmp_path / "old" / "catalogue.json").unlink()
    (run,) = load_runs([tmp_path / "old"])
    assert wire_counts(run) == {
        f"body_{RUMOUR}": RUMOURS, f"body_{WHISPER}": WHISPERS, f"body_{NEWER}": NEWERS,
    }  # fmt: skip
    assert run.catalogue == catalogue.builtin()


def test_a_catalogue_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    gossiping(tmp_path / "r1", "r1")
    (tmp_path / "r1" / "catalogue.json").write_text('{"messages": [{"number": "ten"}]}')
    with pytest.raises(InputError, match=r"catalogue\.json cannot be read"):
        load_runs([tmp_path / "r1"])


def test_data_and_routing_have_an_id_whoever_declared_them() -> None:
    known = KnownMessages({RUMOUR: "rumour", WHISPER: "whisper"}, frozenset({RUMOUR}))
    assert classify(envelope(RUMOUR, "r7"), known) == Seen("rumour", 1, "r7", 4)
    assert classify(envelope(WHISPER, "r7"), known) == Seen("whisper", 1, "", 4)


@pytest.mark.spark
@pytest.mark.slow
def test_overhead_names_messages_and_purposes_from_the_catalogue_alone(
    spark: SparkSession, tmp_path: Path
) -> None:
    from testbed.analysis import analyze, read_grpc

    gossiping(tmp_path / "new", "new")
    gossiping(tmp_path / "old", "old")
    (tmp_path / "old" / "catalogue.json").unlink()
    analysis = analyze([tmp_path / "new", tmp_path / "old"], spark=spark, write=False)
    columns = ["class", "type", "purpose", "log_messages", "wire_messages"]
    rows = analysis.frame("overhead", "new").query("link == 'overlay'")[columns].values.tolist()
    gossip = [row for row in rows if row[1] in ("rumour", "whisper", f"body_{NEWER}")]
    assert gossip == [
        ["data", "rumour", "data_by_rumour", RUMOURS, RUMOURS],
        ["control", f"body_{NEWER}", "unknown", 0, NEWERS],
        ["control", "whisper", "chatter", WHISPERS, WHISPERS],
    ]
    purposes = {row[1]: row[2] for row in rows}
    assert purposes["publication"] == "data"
    assert purposes["subscription"] == "routing"
    assert purposes["hello"] == "control"
    assert purposes["all"] == "all"
    data = [row for row in rows if row[0] == "data"]
    assert data[-1][3] == sum(row[3] for row in data[:-1])

    old = analysis.frame("overhead", "old").query("link == 'overlay'").set_index("type")
    assert old.loc["rumour", "purpose"] == "unknown"
    assert old.loc["publication", "purpose"] == "data"
    reasons = {run: "; ".join(v.reason for v in verdicts) for run, verdicts in analysis.verdicts.items()}
    assert "RUMOUR_HEARD" not in reasons["new"]
    assert "RUMOUR_HEARD" in reasons["old"]

    seen = read_grpc(spark, str(tmp_path / "new" / "pcap" / "h1-h1-eth0.pcap"))
    counted = {row["type"]: row["count"] for row in seen.groupBy("type").count().collect()}
    assert (counted["rumour"], counted[f"body_{NEWER}"]) == (RUMOURS, NEWERS)
