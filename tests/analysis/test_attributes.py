"""Publications read quickly from the logs: what the quick way takes, the language's parser reads alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_grpc.content.language import format_publication, parse_publication
from broker_grpc.errors import BrokerError
from testbed.analysis.evidence.attributes import _plain, attributes_of

NAMES = st.text("abcXYZ%_.-9", min_size=1, max_size=8)
VALUES = st.one_of(
    st.text("ab'\"[],\n é1.", max_size=10),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
)
EXACT = st.dictionaries(NAMES, VALUES, max_size=6).map(lambda found: {"class": "STOCK", **found})
PIECES = st.sampled_from(
    ["[", "]", ",", "'", "''", "class", "a", "1", "-2.5", "1e5", "1.", ".5", " ", "nan", "9" * 19, "[a,1]"]
)
ROUGH = st.lists(PIECES, max_size=12).map("".join)


def slow(text: str) -> object:
    try:
        return parse_publication(text)
    except BrokerError:
        return None


@given(EXACT)
def test_what_the_brokers_write_is_read_back(attributes: dict[str, object]) -> None:
    found = attributes_of(format_publication(attributes))  # type: ignore[arg-type]
    assert found == attributes
    assert [type(value) for value in found.values()] == [type(value) for value in attributes.values()]


@given(ROUGH)
def test_any_text_is_read_as_the_parser_reads_it(text: str) -> None:
    assert repr(attributes_of(text)) == repr(slow(text))


@pytest.mark.parametrize(
    "text", ["[class,'STOCK'],[symbol,'O''Neil'],[price,18.5],[volume,-7300]", "[topic,'x']"]
)
def test_the_usual_text_goes_the_quick_way(text: str) -> None:
    assert _plain(text) == parse_publication(text)


@pytest.mark.parametrize(
    "text",
    ["", "[a,1],[b,2]", "[class,'x'],[a,1],[a,2]", "[class,'x'], [a,1]", "[class,'x'],[a,1e5]", "[a,'x'"],
)
def test_anything_else_is_left_to_the_parser(text: str) -> None:
    assert _plain(text) is None
