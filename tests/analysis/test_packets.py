"""The vectorised packet reader against a slow one, in both formats and byte orders."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from testbed.analysis.sample.packets import pcap_bytes
from testbed.analysis.wire import reader
from testbed.analysis.wire.columns import PACKET_COLUMNS
from testbed.analysis.wire.reader import Part, packets
from tests.analysis.capture_maker import T0, many, pcapng_bytes, tcp, zoo
from tests.analysis.slow_packets import parse

DECODED = [name for name in PACKET_COLUMNS if name not in ("file", "offset", "link_type", "damage")]


def read(path: Path, names: list[str] | None = None) -> list[dict[str, object]]:
    batches = list(packets(Part(str(path)), names or list(PACKET_COLUMNS), damage=names is None))
    return pa.Table.from_batches(batches).to_pylist() if batches else []


def expected(made: list[tuple[int, bytes]], snap: int = 262_144, tick: int = 1) -> list[dict[str, object]]:
    rows = []
    for t_ns, packet in made:
        row = dict.fromkeys(DECODED) | parse(packet, snap)
        rows.append(
            row | {"ts_ns": t_ns // tick * tick, "captured": min(len(packet), snap), "original": len(packet)}
        )
    return rows


def decoded(path: Path) -> list[dict[str, object]]:
    return [{name: row[name] for name in DECODED} for row in read(path)]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nanos", [True, False])
def test_pcap_of_either_resolution_and_byte_order_is_read_field_by_field(
    tmp_path: Path, order: str, nanos: bool
) -> None:
    made = [(T0 + i * 1_001_001, packet) for i, packet in enumerate(zoo())] + many(500)
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_bytes(made, order=order, nanos=nanos))
    assert decoded(path) == expected(made, tick=1 if nanos else 1000)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("resolution", [6, 9])
def test_pcapng_is_read_like_pcap(tmp_path: Path, order: str, resolution: int) -> None:
    made = [(T0 + i * 1_001_001, packet) for i, packet in enumerate(zoo())] + many(200)
    path = tmp_path / "a.pcapng"
    path.write_bytes(pcapng_bytes(made, order, resolution))
    assert decoded(path) == expected(made, tick=10 ** (9 - resolution))


@pytest.mark.parametrize("snap", [10, 14, 20, 33, 34, 40, 53, 54, 60, 96])
def test_what_the_snap_length_cut_off_is_null_and_never_the_next_record(tmp_path: Path, snap: int) -> None:
    made = [(T0 + i, packet) for i, packet in enumerate(zoo() * 3)]
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_bytes(made, snap_length=snap))
    assert decoded(path) == expected(made, snap)


def test_the_plain_path_and_the_general_one_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_bytes(many(300)))
    plain = decoded(path)
    from testbed.analysis.wire import columns

    monkeypatch.setattr(columns, "_is_plain", lambda r, records: records.at < 0)
    assert decoded(path) == plain


def test_records_across_buffer_ends_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.pcap"
    made = many(400)
    path.write_bytes(pcap_bytes(made))
    sizes = []
    for chunk in reader.chunks(Part(str(path)), size=1000):
        sizes.append(len(chunk.records.at))
        assert not chunk.records.damage
    assert sum(sizes) == len(made)
    assert len(sizes) > 50


def test_only_the_wanted_columns_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_bytes([(T0, tcp(1))]))
    assert read(path, ["dport", "ts_ns"]) == [{"dport": 5000, "ts_ns": T0}]


def test_link_types_other_than_ethernet(tmp_path: Path) -> None:
    packet = tcp(1)
    for link_type, head in (
        (101, b""),
        (0, b"\2\0\0\0"),
        (113, b"\0" * 14 + b"\x08\x00"),
        (276, b"\x08\x00" + b"\0" * 18),
    ):
        data = bytearray(pcap_bytes([(T0, head + packet[14:])]))
        data[20:24] = link_type.to_bytes(4, "little")
        path = tmp_path / f"{link_type}.pcap"
        path.write_bytes(data)
        [row] = read(path)
        assert (row["sport"], row["dport"], row["payload"], row["damage"]) == (40000, 5000, 5, None), (
            link_type
        )
