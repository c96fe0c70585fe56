"""Sources by name, and when clients publish."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from broker_grpc.content.language import parse_filter
from testbed.errors import InputError
from testbed.topology.plan import PublicationPlan
from testbed.workload.schedule import offsets_us
from testbed.workload.sources import advertisements, publications


def plan(source: str, **parameters: object) -> PublicationPlan:
    return PublicationPlan(source, parameters)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.txt"
    path.write_text("[class,'A'],[x,1]\n\n[class,'B'],[x,2.5]\n")
    return path


def test_a_trace_is_read_in_order_and_repeated(trace: Path) -> None:
    found = list(itertools.islice(publications(plan("trace", file=str(trace)), 1), 3))
    assert found == [{"class": "A", "x": 1}, {"class": "B", "x": 2.5}, {"class": "A", "x": 1}]


def test_a_bad_trace_is_named_with_its_line(trace: Path) -> None:
    trace.write_text("[class,'A'],[x,1]\n[class,'B',2.5\n")
    with pytest.raises(InputError, match=r"trace\.txt:2"):
        publications(plan("trace", file=str(trace)), 1)
    with pytest.raises(InputError, match="cannot read"):
        publications(plan("trace", file=str(trace) + "x"), 1)


def test_sources_are_seeded_and_advertisements_cover_them(trace: Path) -> None:
    plans = [
        plan("stock", symbol="YHOO"),
        plan("topic", topic="news"),
        plan("topic", topics=20, law="zipf", exponent=1.5),
        plan("fixed", content="[class,'C'],[price,3]"),
        plan("trace", file=str(trace)),
    ]
    for one in plans:
        first = list(itertools.islice(publications(one, 4), 200))
        assert first == list(itertools.islice(publications(one, 4), 200))
        filters = [parse_filter(text) for text in advertisements(one, 4)]
        assert all(any(f.matches(attributes) for f in filters) for attributes in first)
    drawn = [next(publications(plans[2], seed))["class"] for seed in range(20)]
    assert len(set(drawn)) > 1


def test_what_a_source_lacks_is_said() -> None:
    with pytest.raises(InputError, match="stok") as caught:
        publications(plan("stok"), 1)
    assert "did you mean 'stock'" in str(caught.value.hint)
    with pytest.raises(InputError, match="symbol"):
        publications(plan("stock"), 1)


def test_periodic_times_do_not_drift() -> None:
    times = list(offsets_us(PublicationPlan("stock", period_us=333_333, first_us=10, count=1000), 1))
    assert times[0] == 10
    assert times[-1] == 10 + 999 * 333_333
    seeded = next(offsets_us(PublicationPlan("stock", period_us=1_000_000), 5))
    assert 0 <= seeded < 1_000_000
    assert seeded == next(offsets_us(PublicationPlan("stock", period_us=1_000_000), 5))


def test_poisson_times_have_the_mean_and_the_spread() -> None:
    plan = PublicationPlan("stock", period_us=10_000, arrival="poisson", first_us=5, count=20_000)
    times = list(offsets_us(plan, 3))
    assert times == sorted(times)
    gaps = [after - before for before, after in itertools.pairwise(times)]
    mean = sum(gaps) / len(gaps)
    assert mean == pytest.approx(10_000, rel=0.03)
    assert (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5 == pytest.approx(mean, rel=0.05)
