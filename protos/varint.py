"""Sizes and bytes of protobuf's variable-length integers."""

from __future__ import annotations


def size_of_varint(value: int) -> int:
    """Bytes of an unsigned varint; a negative int64 takes ten."""
    if value < 128:
        return 1 if value >= 0 else 10
    return (value.bit_length() + 6) // 7


def size_of_signed(value: int) -> int:
    """Bytes of a zigzag-encoded sint64."""
    return size_of_varint(value << 1 if value >= 0 else (-value << 1) - 1)


def size_of_text(value: str) -> int:
    """Bytes of a string with its length in front."""
    length = len(value) if value.isascii() else len(value.encode())
    return length + size_of_varint(length)


def encode_varint(value: int) -> bytes:
    if value < 128:
        return bytes((value,))
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode_varint(data: bytes, at: int) -> tuple[int, int]:
    """The varint at `at` and the position behind it; ValueError when cut short or too long."""
    value = shift = 0
    while shift < 70:
        if at >= len(data):
            raise ValueError("varint cut short")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    raise ValueError("varint longer than ten bytes")
