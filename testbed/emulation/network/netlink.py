"""Speaking rtnetlink in batches.

Building a network with one command per interface costs a fork and an exec each; here hundreds of requests
travel in one `send`, without any process. Only the last request of a buffer asks for an acknowledgement: the
kernel handles a buffer synchronously and reports errors in any case, so when that one arrives all are known.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from testbed.emulation.network.errors import NetworkError

NLM_F_REQUEST, NLM_F_ACK = 0x1, 0x4
NLM_F_REPLACE, NLM_F_EXCL, NLM_F_CREATE = 0x100, 0x200, 0x400
NLMSG_ERROR = 2
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
SOL_NETLINK, NETLINK_CAP_ACK, NETLINK_EXT_ACK = 270, 10, 11
NLMSGERR_ATTR_MSG = 1

HEADER = struct.Struct("=IHHII")
BUFFER_BYTES = 32_768


@dataclass(frozen=True, slots=True)
class Request:
    """One rtnetlink request; `what` names it in an error, `ignore` lists errors that are no failure."""

    kind: int
    flags: int
    body: bytes
    what: str
    ignore: tuple[int, ...] = ()


def attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", len(data) + 4, kind) + data + b"\0" * (-len(data) % 4)


def text(kind: int, value: str) -> bytes:
    return attribute(kind, value.encode() + b"\0")


def u32(kind: int, value: int) -> bytes:
    return attribute(kind, struct.pack("=I", value))


def nested(kind: int, *attributes: bytes) -> bytes:
    return attribute(kind, b"".join(attributes))


class Netlink:
    """A route socket of the network namespace the caller is in when it is made (it stays there)."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0)
        self._socket.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
        self._socket.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self._socket.bind((0, 0))
        self._sequence = 0

    def close(self) -> None:
        self._socket.close()

    def send(self, requests: Iterable[Request]) -> None:
        """Carry all of them out in order; the first real error is raised (later ones were carried out)."""
        chunk: list[Request] = []
        size = 0
        for request in requests:
            length = HEADER.size + len(request.body)
            if chunk and size + length > BUFFER_BYTES:
                self._exchange(chunk)
                chunk, size = [], 0
            chunk.append(request)
            size += length
        if chunk:
            self._exchange(chunk)

    def _exchange(self, chunk: Sequence[Request]) -> None:
        first = self._sequence + 1
        parts = []
        for number, request in enumerate(chunk, first):
            acknowledge = NLM_F_ACK if number == first + len(chunk) - 1 else 0
            flags = request.flags | NLM_F_REQUEST | acknowledge
            length = HEADER.size + len(request.body)
            parts.append(HEADER.pack(length, request.kind, flags, number, 0) + request.body)
        self._sequence = first + len(chunk) - 1
        self._socket.send(b"".join(parts))
        self._read_answers(chunk, first)

    def _read_answers(self, chunk: Sequence[Request], first: int) -> None:
        failure: NetworkError | None = None
        last_seen = False
        while not last_seen:
            data = self._socket.recv(1 << 20)
            offset = 0
            while offset + HEADER.size <= len(data):
                length, kind, flags, sequence, _port = HEADER.unpack_from(data, offset)
                if kind == NLMSG_ERROR and sequence >= first:
                    code = -struct.unpack_from("=i", data, offset + HEADER.size)[0]
                    request = chunk[sequence - first]
                    if code and code not in request.ignore and failure is None:
                        failure = _failure(request, code, data[offset : offset + length], flags)
                    last_seen = last_seen or sequence == self._sequence
                offset += (length + 3) & ~3
        if failure is not None:
            raise failure


def _failure(request: Request, code: int, answer: bytes, flags: int) -> NetworkError:
    detail = _extended_message(answer) if flags & NLM_F_ACK_TLVS else ""
    reason = os.strerror(code) + (f" ({detail})" if detail else "")
    return NetworkError(
        f"{request.what}: {reason}", hint="the kernel refused it; `testbed doctor` checks for it"
    )


def _extended_message(answer: bytes) -> str:
    offset = HEADER.size + 4 + HEADER.size
    while offset + 4 <= len(answer):
        length, kind = struct.unpack_from("=HH", answer, offset)
        if length < 4:
            break
        if kind == NLMSGERR_ATTR_MSG:
            return answer[offset + 4 : offset + length].rstrip(b"\0").decode(errors="replace")
        offset += (length + 3) & ~3
    return ""
