"""The leg of a publication, as the wire shows it, against what was written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from protos.body import Envelope
from protos.client_messages import Publication
from protos.envelope import encode
from testbed.analysis.wire.envelope import classify

text = st.text(max_size=20)
value = st.one_of(text, st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False))


@given(
    st.text(min_size=1, max_size=20),
    st.dictionaries(text, value, max_size=4),
    st.one_of(st.binary(max_size=20), st.just(b"H\x01"), st.just(b"\x48\x00")),
    st.integers(0, 300),
    st.one_of(st.integers(0, 1), st.integers(0, 2**32 - 1)),
)
def test_the_wire_shows_the_leg(
    id_: str, attributes: dict[str, str | int | float], payload: bytes, plane: int, leg: int
) -> None:
    """Also where other fields end in the very bytes of a leg."""
    sent = Publication(id_, "p", "", 5, attributes, payload, plane=plane, leg=leg)
    seen = classify(encode(Envelope(sent, hops=1)))
    assert (seen.type, seen.id, seen.leg) == ("publication", id_, leg)
