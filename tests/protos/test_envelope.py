"""The hand-written envelope codec must be protobuf, byte for byte, and survive any bytes."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protos import content_pb2, wire_pb2
from protos import messages as m
from protos.builtin import BODIES
from protos.envelope import MalformedEnvelope, UnknownMessage, decode, encode, encoded_size
from protos.varint import decode_varint, encode_varint, size_of_signed, size_of_varint

text = st.text(max_size=200)
int64 = st.integers(-(2**63), 2**63 - 1)
uint32 = st.integers(0, 2**32 - 1)
value = st.one_of(text, int64, st.floats(allow_nan=False))
predicate = st.builds(m.Predicate, text, st.sampled_from(m.Operator), value)
trace = st.none() | st.builds(m.Trace, st.booleans(), text, uint32)
publication = st.builds(
    m.Publication,
    text,
    text,
    text,
    int64,
    st.dictionaries(text, value, max_size=8),
    st.binary(max_size=300),
    trace,
)
subscription = st.builds(m.Subscription, text, text, st.lists(predicate, max_size=6).map(tuple))
broker_trace = st.builds(
    m.BrokerTrace,
    text,
    st.lists(text, max_size=3).map(tuple),
    st.binary(max_size=20),
    uint32,
    int64,
    int64,
    st.lists(st.builds(m.NeighbourDelay, text, int64), max_size=3).map(tuple),
)
answer = st.builds(m.TraceInformationAnswer, text, text, st.lists(broker_trace, max_size=3).map(tuple))
request = st.builds(
    m.RelocationRequest, text, st.floats(allow_nan=False), st.lists(text, max_size=4).map(tuple)
)
hello = st.builds(m.Hello, text, st.sampled_from(m.PeerKind), uint32, st.integers(0, 2**64 - 1))
body = st.one_of(publication, subscription, answer, request, hello)
envelope = st.builds(m.Envelope, body, uint32, st.integers(0, 2**64 - 1))


@given(envelope)
def test_decoding_what_was_encoded_gives_the_same_message(sent: m.Envelope) -> None:
    assert decode(encode(sent)) == sent


@given(envelope)
def test_the_bytes_are_the_protobuf_message(sent: m.Envelope) -> None:
    parsed = wire_pb2.Envelope.FromString(encode(sent))
    assert (parsed.hops, parsed.request, parsed.version) == (sent.hops, sent.request, sent.version)
    assert parsed.ByteSize() == len(encode(sent))


@given(envelope)
def test_the_size_is_known_without_encoding(sent: m.Envelope) -> None:
    size = encoded_size(sent)
    assert size == len(encode(sent))


@given(envelope)
def test_a_forwarded_message_has_the_size_of_its_bytes(sent: m.Envelope) -> None:
    received = decode(encode(sent))
    forwarded = m.Envelope(received.body, received.hops + 1)
    assert encoded_size(forwarded) == len(encode(forwarded))


@given(st.binary(max_size=400))
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    with contextlib.suppress(MalformedEnvelope, UnknownMessage):
        decode(data)


@given(envelope, st.data())
def test_a_cut_message_is_refused_or_shorter(sent: m.Envelope, data: st.DataObject) -> None:
    encoded = encode(sent)
    cut = encoded[: data.draw(st.integers(0, len(encoded) - 1))]
    with pytest.raises((MalformedEnvelope, UnknownMessage)):
        decode(cut)


def test_a_newer_version_is_unknown_not_malformed() -> None:
    with pytest.raises(UnknownMessage, match="version 2"):
        decode(encode(m.Envelope(m.Heartbeat(1), version=2)))


def test_an_unknown_body_is_unknown_not_malformed() -> None:
    with pytest.raises(UnknownMessage, match="body field 2048"):
        decode(encode_varint(2048 << 3 | 2) + b"\x02ab")


def test_every_body_can_be_sent_and_received() -> None:
    for kind in (body.kind for body in BODIES):
        empty = m.Envelope(kind())
        assert decode(encode(empty)).body == empty.body
        assert encoded_size(m.Envelope(kind())) == len(encode(empty))


@given(st.integers(0, 2**64 - 1))
def test_varints(number: int) -> None:
    encoded = encode_varint(number)
    assert decode_varint(encoded, 0) == (number, len(encoded))
    assert size_of_varint(number) == len(encoded)


@given(int64)
def test_signed_size(number: int) -> None:
    assert size_of_signed(number) == content_pb2.Value(integer=number).ByteSize() - 1


def test_infinite_numbers_travel() -> None:
    sent = m.Envelope(m.Publication(id="p", attributes={"x": math.inf}))
    assert decode(encode(sent)).body == sent.body
