"""The quick reader and writer of publications against protobuf itself."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protos import client_pb2 as pb
from protos.bodies import BODY_TYPES
from protos.client_messages import Publication, Trace
from protos.publication_wire import read_publication, write_publication

TO_PROTOBUF = BODY_TYPES[Publication].to_protobuf
FROM_PROTOBUF = BODY_TYPES[Publication].from_protobuf

text = st.text(max_size=300)
value = st.one_of(text, st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False))
publication = st.builds(
    Publication,
    text,
    text,
    text,
    st.integers(0, 2**63 - 1),
    st.dictionaries(text, value),
    st.binary(max_size=300),
    st.none(),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
)
stock = Publication("p:1", "p", "a", 5, {"class": "STOCK", "price": 18.37, "volume": 6200, "low": -1}, b"x")


@given(publication)
def test_protobuf_reads_what_we_write(sent: Publication) -> None:
    written = write_publication(sent)
    assert written is not None
    assert FROM_PROTOBUF(pb.Publication.FromString(written)) == sent
    assert len(written) == TO_PROTOBUF(sent).ByteSize()


@given(publication)
def test_we_read_what_protobuf_writes(sent: Publication) -> None:
    found = read_publication(TO_PROTOBUF(sent).SerializeToString())
    assert found is None or found == sent


def test_the_usual_publication_takes_the_quick_way_and_keeps_its_order() -> None:
    written = write_publication(stock)
    assert written is not None
    found = read_publication(written)
    assert found == stock
    assert list(found.attributes) == list(stock.attributes)


@settings(max_examples=500)
@given(st.binary(max_size=200))
def test_any_bytes_mean_to_us_what_they_mean_to_protobuf(data: bytes) -> None:
    agrees(data)


@settings(max_examples=500)
@given(publication, st.data())
def test_damaged_publications_mean_what_they_mean_to_protobuf(sent: Publication, data: st.DataObject) -> None:
    written = bytearray(write_publication(sent) or b"")
    for _ in range(data.draw(st.integers(1, 4))):
        if written:
            at = data.draw(st.integers(0, len(written) - 1))
            written[at] = data.draw(st.integers(0, 255))
    agrees(bytes(written[: data.draw(st.integers(0, len(written)))]))


def agrees(data: bytes) -> None:
    """Giving up is always allowed; a different meaning never is."""
    found = read_publication(data)
    if found is not None:
        expected = FROM_PROTOBUF(pb.Publication.FromString(data))
        # NaN is unlike itself
        assert repr(found.attributes) == repr({name: expected.attributes[name] for name in found.attributes})
        assert found.attributes.keys() == expected.attributes.keys()
        found.attributes, expected.attributes = {}, {}
        assert found == expected


def test_what_the_wire_cannot_carry_is_an_error() -> None:
    with pytest.raises(TypeError):
        write_publication(Publication("p:1", attributes={"x": True}))
    with pytest.raises(ValueError, match="64 bits"):
        write_publication(Publication("p:1", attributes={"x": 1 << 63}))
    assert write_publication(Publication("p:1", trace=Trace(True))) is None
