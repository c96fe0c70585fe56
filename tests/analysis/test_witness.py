"""Messages from the wire: exact on real gRPC traffic, whatever happens to the packets on the way."""

from __future__ import annotations

import json
import random
import shutil
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from testbed.analysis.sample.packets import Talk, write_capture
from testbed.analysis.wire.capture_file import Capture
from testbed.analysis.wire.witness import messages, witness

DATA = Path(__file__).parent / "data"
TRUTH = json.loads((DATA / "overlay.json").read_text())


def counts(path: Path) -> dict[str, dict[str, int]]:
    """sender>receiver -> type -> messages, by the hellos."""
    rows = witness(Capture(str(path))).to_pylist()
    who = {(r["source"], r["target"]): r["hello"] for r in rows if r["fact"] == "stream"}
    out: dict[str, Counter[str]] = {}
    for row in rows:
        if row["fact"] == "count":
            ends = (row["source"], row["target"])
            out.setdefault(f"{who[ends]}>{who[ends[::-1]]}", Counter())[row["type"]] += row["messages"]
    return {key: dict(value) for key, value in out.items()}


def records(path: Path) -> list[bytes]:
    data, at, out = path.read_bytes(), 24, []
    while at < len(data):
        size = 16 + struct.unpack_from("<I", data, at + 8)[0]
        out.append(data[at : at + size])
        at += size
    return out


def rewritten(path: Path, parts: list[bytes]) -> Path:
    path.write_bytes((DATA / "overlay.pcap").read_bytes()[:24] + b"".join(parts))
    return path


def carries_payload(record: bytes) -> bool:
    length = struct.unpack_from(">H", record, 32)[0]
    return length > 20 + (record[16 + 46] >> 4) * 4


def connections(path: Path) -> list[dict[str, object]]:
    return [r for r in witness(Capture(str(path))).to_pylist() if r["fact"] == "connection"]


def test_counts_by_type_and_direction_equal_what_the_two_sides_sent() -> None:
    assert counts(DATA / "overlay.pcap") == TRUTH["messages"]


def test_bytes_add_up() -> None:
    rows = witness(Capture(str(DATA / "overlay.pcap"))).to_pylist()
    sent = sum(sum(types.values()) for types in TRUTH["bytes"].values())
    assert sum(r["bytes"] for r in rows if r["fact"] == "count") == sent
    for row in rows:
        if row["fact"] == "connection":
            assert row["bytes"] + row["framing_bytes"] == row["payload_bytes"]
        elif row["fact"] == "traffic":
            assert row["header_bytes"] + row["ack_bytes"] + row["payload_bytes"] == row["bytes"]


def test_the_method_and_the_speakers_are_told() -> None:
    streams = [r for r in witness(Capture(str(DATA / "overlay.pcap"))).to_pylist() if r["fact"] == "stream"]
    told = {(r["path"], r["hello"], r["hello_kind"]) for r in streams if r["path"]}
    assert told == {
        ("/testbed.broker.Overlay/Link", "A", "broker"),
        ("/testbed.broker.PubSub/Connect", "c1", "client"),
    }


def test_every_message_has_its_time_and_id() -> None:
    found = list(messages(Capture(str(DATA / "overlay.pcap"))))
    assert len(found) == sum(sum(types.values()) for types in TRUTH["messages"].values())
    one_way: dict[tuple[str, str], list[int]] = {}
    for message in found:
        half = message.connection
        one_way.setdefault((half.source, half.target), []).append(message.ts_ns)
    assert all(times == sorted(times) for times in one_way.values())
    assert all(m.seen.id for m in found if m.seen.type == "publication")


@pytest.mark.parametrize("seed", range(5))
def test_late_doubled_and_swapped_packets_change_nothing(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    parts = records(DATA / "overlay.pcap")
    for at in sorted(rng.sample(range(len(parts) - 20), 40), reverse=True):
        if carries_payload(parts[at]):
            parts.insert(at + rng.randrange(1, 15), parts[at])
    for at in rng.sample(range(6, len(parts) - 1), 60):
        parts[at], parts[at + 1] = parts[at + 1], parts[at]
    path = rewritten(tmp_path / "a.pcap", parts)
    assert counts(path) == TRUTH["messages"]
    for counted in ("retransmitted_bytes", "out_of_order"):
        assert sum(int(str(c[counted])) for c in connections(path)) > 0
    assert not any(c["gaps"] for c in connections(path))


@pytest.mark.parametrize("seed", range(5))
def test_a_packet_that_was_not_captured_is_flagged_as_a_gap(tmp_path: Path, seed: int) -> None:
    parts = records(DATA / "overlay.pcap")
    full = [at for at in range(30, len(parts) - 60) if carries_payload(parts[at])]
    del parts[random.Random(seed).choice(full)]
    path = rewritten(tmp_path / "a.pcap", parts)
    states = [c["state"] for c in connections(path)]
    assert states.count("gap") == 1
    assert sum(int(str(c["gaps"])) for c in connections(path)) == 1


def test_snap_length_shorter_than_the_packets_is_flagged(tmp_path: Path) -> None:
    parts = []
    for record in records(DATA / "overlay.pcap"):
        kept = record[16 : 16 + 96]
        parts.append(record[:8] + struct.pack("<I", len(kept)) + record[12:16] + kept)
    states = {c["state"] for c in connections(rewritten(tmp_path / "a.pcap", parts))}
    assert states == {"snap_length"}


def test_capture_that_began_in_mid_connection_is_flagged(tmp_path: Path) -> None:
    parts = [record for record in records(DATA / "overlay.pcap")][60:]
    states = {c["state"] for c in connections(rewritten(tmp_path / "a.pcap", parts))}
    assert "whole" not in states


def test_tls_is_recognised(tmp_path: Path) -> None:
    talk = Talk(("10.0.0.1", 40000), ("10.0.0.2", 5000))
    talk.opened = True
    talk.client.send(1, b"", 2, 0)
    talk.client.send(2, b"\x16\x03\x01\x02\x00" + b"x" * 512, 0x18, 0)
    write_capture(tmp_path / "a.pcap", [talk])
    assert [c["state"] for c in connections(tmp_path / "a.pcap")] == ["tls"]


def test_ports_used_twice_are_two_connections(tmp_path: Path) -> None:
    from protos.body import Envelope
    from protos.core_messages import Heartbeat
    from protos.envelope import encode

    talks = []
    for number in range(2):
        talk = Talk(("10.0.0.1", 40000), ("10.0.0.2", 5000), isn=1000 + number * 500_000)
        for beat in range(3):
            message = encode(Envelope(Heartbeat(beat), 0, 0, 1))
            talk.say(1_000_000 * (number * 10 + beat + 1), message, by_client=True)
        talks.append(talk)
    write_capture(tmp_path / "a.pcap", talks)
    rows = witness(Capture(str(tmp_path / "a.pcap"))).to_pylist()
    found = {(r["connection"], r["messages"]) for r in rows if r["fact"] == "count"}
    assert found == {(0, 3), (1, 3)}


def test_what_another_capture_has_is_not_counted_again(tmp_path: Path) -> None:
    from ipaddress import IPv4Address

    talk = Talk(("10.0.0.1", 40000), ("10.0.0.2", 5000))
    talk.say(10**6, b"\x52\x00", by_client=True)
    talk.say(2 * 10**6, b"\x52\x00", by_client=False)
    write_capture(tmp_path / "a.pcap", [talk])
    one, two = int(IPv4Address("10.0.0.1")), int(IPv4Address("10.0.0.2"))
    capture = Capture(str(tmp_path / "a.pcap"), addresses=frozenset({two}), captured=frozenset({one, two}))
    assert {r["source"] for r in witness(capture).to_pylist()} == {"10.0.0.2:5000"}
    alone = Capture(str(tmp_path / "a.pcap"), addresses=frozenset({two}), captured=frozenset({two}))
    assert {r["source"] for r in witness(alone).to_pylist()} == {"10.0.0.1:40000", "10.0.0.2:5000"}


def test_a_newer_or_broken_envelope_is_counted_as_such(tmp_path: Path) -> None:
    talk = Talk(("10.0.0.1", 40000), ("10.0.0.2", 5000))
    for number, message in enumerate((b"\x08\x01\xfa\x7f\x00", b"\xff\xff", b"")):
        talk.say(10**6 * (number + 1), message, by_client=True)
    write_capture(tmp_path / "a.pcap", [talk])
    rows = witness(Capture(str(tmp_path / "a.pcap"))).to_pylist()
    counts = {r["type"]: r["messages"] for r in rows if r["fact"] == "count"}
    assert counts == {"body_2047": 1, "malformed": 2}


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_counts_the_same() -> None:
    command = ["tshark", "-r", str(DATA / "overlay.pcap"), "-d", f"tcp.port=={TRUTH['port']},http2"]
    command += ["-Y", "grpc", "-T", "fields", "-e", "grpc.message_length"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lengths = [int(text) for line in said.split() for text in line.split(",")]
    ours = [message.bytes for message in messages(Capture(str(DATA / "overlay.pcap")))]
    assert sorted(lengths) == sorted(ours)


def test_sequence_numbers_that_wrap(tmp_path: Path) -> None:
    talk = Talk(("10.0.0.1", 40000), ("10.0.0.2", 5000), isn=2**32 - 100)
    for number in range(50):
        talk.say(10**6 * (number + 1), b"\x52\x00", by_client=True)
    assert talk.client.seq < 2000
    write_capture(tmp_path / "a.pcap", [talk])
    rows = witness(Capture(str(tmp_path / "a.pcap"))).to_pylist()
    assert [(r["type"], r["messages"]) for r in rows if r["fact"] == "count"] == [("heartbeat", 50)]
