"""Large captures in parts: together they are the whole, and a wrong guess is noticed."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pyarrow as pa
import pytest

from testbed.analysis.sample.packets import pcap_bytes
from testbed.analysis.wire.reader import Part, SplitUnproven, packets
from testbed.analysis.wire.split import plan_parts
from tests.analysis.capture_maker import T0, many, pcapng_bytes, tcp


def rows(parts: list[Part]) -> list[tuple[int, int]]:
    batches = [batch for part in parts for batch in packets(part, ["ts_ns", "original"])]
    return [tuple(row.values()) for row in pa.Table.from_batches(batches).to_pylist()]


@pytest.mark.parametrize("size", [2_000, 10_000, 33_333, 100_000])
@pytest.mark.parametrize("exact", [False, True])
def test_parts_together_are_the_file(tmp_path: Path, size: int, exact: bool) -> None:
    made = many(1500)
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_bytes(made))
    parts = plan_parts(str(path), size, exact)
    assert len(parts) > 2
    assert rows(parts) == [(t, len(p)) for t, p in made]


def test_parts_of_pcapng(tmp_path: Path) -> None:
    made = many(1500)
    path = tmp_path / "a.pcapng"
    path.write_bytes(pcapng_bytes(made))
    parts = plan_parts(str(path), 20_000)
    assert len(parts) > 5
    assert rows(parts) == [(t, len(p)) for t, p in made]


def test_small_file_is_one_part(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_bytes(many(10)))
    assert plan_parts(str(path)) == [Part(str(path))]


def test_captures_inside_packets_are_not_mistaken_for_records_or_are_refused(tmp_path: Path) -> None:
    inner = pcap_bytes(many(200))[24:]
    made = [(T0 + i, tcp(i, inner[i * 50 : i * 50 + 30_000])) for i in range(60)]
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_bytes(made))
    wanted = [(t, len(p)) for t, p in made]
    with contextlib.suppress(SplitUnproven):
        assert rows(plan_parts(str(path), 100_000)) == wanted
    assert rows(plan_parts(str(path), 100_000, exact=True)) == wanted


def test_a_wrong_start_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_bytes(many(100)))
    whole = plan_parts(str(path), 4_000)
    wrong = Part(whole[0].path, whole[0].start, whole[0].end + 1, whole[0].header, first=True)
    with pytest.raises(SplitUnproven, match="split=exact"):
        rows([wrong])
