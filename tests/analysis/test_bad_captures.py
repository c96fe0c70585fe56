"""Captures that are not whole: what is whole is used, what is not is counted."""

from __future__ import annotations

import resource
import struct
from pathlib import Path

import pyarrow as pa
import pytest

from testbed.analysis.sample.packets import pcap_bytes
from testbed.analysis.wire.reader import Part, packets
from testbed.analysis.wire.witness import Capture, witness
from tests.analysis.capture_maker import T0, many, pcapng_bytes, tcp


def read(path: Path) -> tuple[list[int], list[tuple[str, int]]]:
    """Time stamps of the packets, and the damage with its bytes."""
    batches = list(packets(Part(str(path)), ["ts_ns", "captured"], damage=True))
    rows = pa.Table.from_batches(batches).to_pylist() if batches else []
    times = [row["ts_ns"] for row in rows if row["damage"] is None]
    return times, [(row["damage"], row["captured"]) for row in rows if row["damage"]]


def damage(path: Path) -> list[str]:
    return [row["state"] for row in witness(Capture(str(path))).to_pylist() if row["fact"] == "damage"]


def test_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(b"")
    assert read(path) == ([], [("empty file", 0)])
    assert damage(path) == ["empty file"]


def test_only_a_header_is_an_empty_capture(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_bytes([]))
    assert read(path) == ([], [])


def test_header_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_bytes([])[:15])
    assert read(path) == ([], [("cut inside the file header", 15)])


def test_wrong_magic_number(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(b"PK\3\4" + b"\0" * 100)
    assert read(path) == ([], [("wrong magic number 504b0304", 104)])


@pytest.mark.parametrize("cut", [1, 15, 16, 17, 40])
def test_cut_in_mid_record(tmp_path: Path, cut: int) -> None:
    made = many(50)
    whole = pcap_bytes(made)
    last = 16 + len(made[-1][1])
    path = tmp_path / "a.pcap"
    path.write_bytes(whole[: len(whole) - last + min(cut, last - 1)])
    times, lost = read(path)
    assert times == [t for t, _ in made[:-1]]
    assert lost == [("cut in mid-record", min(cut, last - 1))]


@pytest.mark.parametrize("garbage", [b"\xff" * 100, b"\0" * 37, bytes(range(256)) * 5, b"\xa5"])
def test_garbage_in_the_middle_is_skipped(tmp_path: Path, garbage: bytes) -> None:
    before, after = many(60), [(t + 10**9, p) for t, p in many(60, seed=2)]
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_bytes(before) + garbage + pcap_bytes(after)[24:])
    times, lost = read(path)
    assert times == [t for t, _ in before + after]
    assert lost == [("garbage", len(garbage))]


def test_garbage_in_the_middle_of_pcapng(tmp_path: Path) -> None:
    made = many(40)
    whole = pcapng_bytes(made)
    at = len(pcapng_bytes(made[:20]))
    path = tmp_path / "a.pcapng"
    path.write_bytes(whole[:at] + b"\xff" * 33 + whole[at:])
    times, lost = read(path)
    assert times == [t for t, _ in made]
    assert lost == [("garbage", 33)]


def test_pcapng_cut_in_mid_block(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    path.write_bytes(pcapng_bytes([(T0, tcp(1)), (T0 + 1, tcp(2))])[:-10])
    times, lost = read(path)
    assert times == [T0]
    assert [what for what, _ in lost] == ["cut in mid-record"]


def test_absurd_lengths_are_damage_and_allocate_nothing(tmp_path: Path) -> None:
    good = pcap_bytes(many(30))
    record = struct.pack("<IIII", T0 // 10**9, 0, 0xFFFFFFF0, 0xFFFFFFF0)
    path = tmp_path / "a.pcap"
    path.write_bytes(good + record + b"x" * 50)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times, lost = read(path)
    assert len(times) == 30
    assert lost == [("garbage", 66)]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_unknown_link_type_is_said(tmp_path: Path) -> None:
    data = bytearray(pcap_bytes([(T0, tcp(1))]))
    data[20:24] = (147).to_bytes(4, "little")
    path = tmp_path / "a.pcap"
    path.write_bytes(data)
    times, lost = read(path)
    assert times == [T0]
    assert lost == [("unknown link type 147", 0)]
    assert damage(path) == ["unknown link type 147"]


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_never_raise(tmp_path: Path, seed: int) -> None:
    import random

    rng = random.Random(seed)
    data = bytearray(pcap_bytes(many(50, seed)) if seed % 2 else pcapng_bytes(many(50, seed)))
    for _ in range(30):
        data[rng.randrange(8 if seed % 2 else 28, len(data))] = rng.randrange(256)
    path = tmp_path / "a.pcap"
    path.write_bytes(data)
    read(path)
    witness(Capture(str(path)))
