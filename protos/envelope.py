"""Envelopes to bytes and back, and their exact size without encoding.

The header is written by hand around the body's bytes, so that a broker that forwards a message
re-encodes only the hop count, and the simulator knows sizes without protobuf objects.
"""

from __future__ import annotations

from google.protobuf.message import DecodeError

from protos.bodies import BODY_TYPES, BY_NUMBER
from protos.bodies import TYPE_OF as TYPE_OF
from protos.body import Body, Envelope
from protos.client_messages import Publication
from protos.publication_wire import read_publication, write_publication
from protos.varint import decode_varint, encode_varint, size_of_varint

VERSION = 1
PUBLICATION = BODY_TYPES[Publication].number


class MalformedEnvelope(ValueError):
    """The bytes are not an Envelope."""


class UnknownMessage(ValueError):
    """An Envelope of a newer version, or with a body this version does not know."""


def request_of(data: bytes) -> int:
    """The request that these bytes seem to belong to, whatever else they are; 0 = none."""
    at = request = 0
    try:
        while at < len(data) and data[at] in (8, 16, 24):
            field = data[at] >> 3
            value, at = decode_varint(data, at + 1)
            if field == 3:
                request = value
    except ValueError:
        return 0
    return request if request < 1 << 64 else 0


def body_size(body: Body) -> int:
    if body.wire_size < 0:
        body.wire_size = len(body.wire) or BODY_TYPES[body.__class__].size(body)
    return body.wire_size


def encoded_size(envelope: Envelope) -> int:
    body = envelope.body
    inner, version, hops, request = body.wire_size, envelope.version, envelope.hops, envelope.request
    if inner < 0:
        inner = body_size(body)
    size = inner + (1 if inner < 128 else size_of_varint(inner)) + len(BODY_TYPES[body.__class__].tag)
    if version:
        size += 2 if 0 < version < 128 else 1 + size_of_varint(version)
    if hops:
        size += 2 if 0 < hops < 128 else 1 + size_of_varint(hops)
    if request:
        size += 1 + size_of_varint(request)
    return size


def publication_size(envelope: Envelope) -> int:
    """`encoded_size`, quicker for the usual publication."""
    inner = envelope.body.wire_size
    hops = envelope.hops
    if inner < 0 or hops > 127 or envelope.request or envelope.version != 1 or inner > 16383:
        return encoded_size(envelope)
    return inner + (5 if inner < 128 else 6) + (2 if hops else 0)


def encode(envelope: Envelope) -> bytes:
    body = envelope.body
    if not body.wire:
        body.wire = _encode_body(body)
        body.wire_size = len(body.wire)
    header = b""
    if envelope.version:
        header += b"\x08" + encode_varint(envelope.version)
    if envelope.hops:
        header += b"\x10" + encode_varint(envelope.hops)
    if envelope.request:
        header += b"\x18" + encode_varint(envelope.request)
    return header + BODY_TYPES[body.__class__].tag + encode_varint(len(body.wire)) + body.wire


def _encode_body(body: Body) -> bytes:
    if isinstance(body, Publication):
        written = write_publication(body)
        if written is not None:
            return written
    encoded: bytes = BODY_TYPES[body.__class__].to_protobuf(body).SerializeToString()
    return encoded


def decode(data: bytes) -> Envelope:
    """Raises MalformedEnvelope or UnknownMessage; never anything else for any bytes."""
    header = [0, 0, 0, 0]
    number, inner = 0, b""
    at, end = 0, len(data)
    try:
        while at < end:
            tag, at = decode_varint(data, at)
            if tag in (8, 16, 24):
                header[tag >> 3], at = decode_varint(data, at)
            elif tag & 7 == 2:
                length, at = decode_varint(data, at)
                if at + length > end:
                    raise MalformedEnvelope("body cut short")
                number, inner = tag >> 3, data[at : at + length]
                at += length
            else:
                raise MalformedEnvelope(f"field {tag >> 3}, wire type {tag & 7}: not part of an Envelope")
        return _decode_body(header, number, inner)
    except (DecodeError, UnicodeDecodeError) as error:
        raise MalformedEnvelope(str(error)) from None
    except (MalformedEnvelope, UnknownMessage):
        raise
    except ValueError as error:
        raise MalformedEnvelope(str(error)) from None


def _decode_body(header: list[int], number: int, inner: bytes) -> Envelope:
    _, version, hops, request = header
    if version > VERSION:
        raise UnknownMessage(f"version {version}, this side speaks up to {VERSION}")
    known = BY_NUMBER.get(number)
    if known is None:
        raise UnknownMessage(f"body field {number}" if number else "no body")
    body = read_publication(inner) if number == PUBLICATION else None
    if body is None:
        body = known.from_protobuf(known.parse(inner))
    body.wire = inner
    return Envelope(body, hops, request, version)
