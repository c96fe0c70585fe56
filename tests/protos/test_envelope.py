"""The hand-written envelope codec must be protobuf, byte for byte, and survive any bytes."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protos import content_pb2, wire_pb2
from protos.body import Envelope
from protos.builtin import BODIES
from protos.client_messages import Publication, Subscription, Trace
from protos.content_messages import Operator, Predicate
from protos.core_messages import Heartbeat, Hello, PeerKind
from protos.envelope import MalformedEnvelope, UnknownMessage, decode, encode, encoded_size
from protos.relocation_messages import BrokerTrace, NeighbourDelay, RelocationRequest, TraceInformationAnswer
from protos.varint import decode_varint, encode_varint, size_of_signed, size_of_varint

text = st.text(max_size=200)
int64 = st.integers(-(2**63), 2**63 - 1)
uint32 = st.integers(0, 2**32 - 1)
value = st.one_of(text, int64, st.floats(allow_nan=False))
predicate = st.builds(Predicate, text, st.sampled_from(Operator), value)
trace = st.none() | st.builds(Trace, st.booleans(), text, uint32)
publication = st.builds(
    Publication,
    text,
    text,
    text,
    int64,
    st.dictionaries(text, value, max_size=8),
    st.binary(max_size=300),
    trace,
)
subscription = st.builds(Subscription, text, text, st.lists(predicate, max_size=6).map(tuple))
broker_trace = st.builds(
    BrokerTrace,
    text,
    st.lists(text, max_size=3).map(tuple),
    st.binary(max_size=20),
    uint32,
    int64,
    int64,
    st.lists(st.builds(NeighbourDelay, text, int64), max_size=3).map(tuple),
)
answer = st.builds(TraceInformationAnswer, text, text, st.lists(broker_trace, max_size=3).map(tuple))
request = st.builds(
    RelocationRequest, text, st.floats(allow_nan=False), st.lists(text, max_size=4).map(tuple)
)
hello = st.builds(Hello, text, st.sampled_from(PeerKind), uint32, st.integers(0, 2**64 - 1))
body = st.one_of(publication, subscription, answer, request, hello)
envelope = st.builds(Envelope, body, uint32, st.integers(0, 2**64 - 1))


@given(envelope)
def test_decoding_what_was_encoded_gives_the_same_message(sent: Envelope) -> None:
    assert decode(encode(sent)) == sent


@given(envelope)
def test_the_bytes_are_the_protobuf_message(sent: Envelope) -> None:
    parsed = wire_pb2.Envelope.FromString(encode(sent))
    assert (parsed.hops, parsed.request, parsed.version) == (sent.hops, sent.request, sent.version)
    assert parsed.ByteSize() == len(encode(sent))


@given(envelope)
def test_the_size_is_known_without_encoding(sent: Envelope) -> None:
    size = encoded_size(sent)
    assert size == len(encode(sent))


@given(envelope)
def test_a_forwarded_message_has_the_size_of_its_bytes(sent: Envelope) -> None:
    received = decode(encode(sent))
    forwarded = Envelope(received.body, received.hops + 1)
    assert encoded_size(forwarded) == len(encode(forwarded))


@given(st.binary(max_size=400))
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    with contextlib.suppress(MalformedEnvelope, UnknownMessage):
        decode(data)


@given(envelope, st.data())
def test_a_cut_message_is_refused_or_shorter(sent: Envelope, data: st.DataObject) -> None:
    encoded = encode(sent)
    cut = encoded[: data.draw(st.integers(0, len(encoded) - 1))]
    with pytest.raises((MalformedEnvelope, UnknownMessage)):
        decode(cut)


def test_a_newer_version_is_unknown_not_malformed() -> None:
    with pytest.raises(UnknownMessage, match="version 2"):
        decode(encode(Envelope(Heartbeat(1), version=2)))


def test_an_unknown_body_is_unknown_not_malformed() -> None:
    with pytest.raises(UnknownMessage, match="body field 2048"):
        decode(encode_varint(2048 << 3 | 2) + b"\x02ab")


def test_every_body_can_be_sent_and_received() -> None:
    for kind in (body.kind for body in BODIES):
        empty = Envelope(kind())
        assert decode(encode(empty)).body == empty.body
        assert encoded_size(Envelope(kind())) == len(encode(empty))


@given(st.integers(0, 2**64 - 1))
def test_varints(number: int) -> None:
    encoded = encode_varint(number)
    assert decode_varint(encoded, 0) == (number, len(encoded))
    assert size_of_varint(number) == len(encoded)


@given(int64)
def test_signed_size(number: int) -> None:
    assert size_of_signed(number) == content_pb2.Value(integer=number).ByteSize() - 1


def test_infinite_numbers_travel() -> None:
    sent = Envelope(Publication(id="p", attributes={"x": math.inf}))
    assert decode(encode(sent)).body == sent.body
