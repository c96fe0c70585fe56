"""Real broker processes on loopback, as a harness starts them, and a bare client stream to poke them with."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import msgspec

from broker_grpc.core.limits import Limits
from broker_grpc.process.handshake import hello, read_hello
from broker_grpc.process.tls import TlsFiles
from broker_grpc.process.transport import CONNECT, DialledStream
from protos.body import Envelope
from protos.envelope import VERSION, decode, encode
from protos.records import LogEvent
from tests.broker_process.nursery import nursery
from tests.ports import free_port

PATIENCE_S = 60
UNHURRIED = {"hello_timeout_us": PATIENCE_S * 1_000_000}


class BrokerNode:
    """One broker process. `flood=True` runs the test machine instead of the real broker."""

    def __init__(
        self,
        folder: Path,
        name: str,
        neighbours: list[dict[str, Any]] | None = None,
        *,
        port: int | None = None,
        flood: bool = True,
        options: dict[str, Any] | None = None,
        tls: TlsFiles | None = None,
        incarnation: int = 1,
        events: str | None = None,
        host: str = "127.0.0.1",
    ) -> None:
        self.name = name
        self.port = port or free_port()
        self.address = f"{host}:{self.port}"
        self.events = Path(events or folder / f"{name}.jsonl")
        self._flood = flood
        self._path = folder / f"{name}.json"
        self._log = folder / f"{name}.log"
        self.config: dict[str, Any] = {
            "broker": name,
            "listen": self.address,
            "neighbours": neighbours or [],
            "options": {**UNHURRIED, **(options or {})},
            "algorithm": {},
            "seed": 1,
            "events": str(self.events),
            "epoch_offset_us": 0,
            "incarnation": incarnation,
            "sample_every_us": 0,
            "tls": msgspec.to_builtins(tls) if tls else None,
        }

    def start(self) -> BrokerNode:
        self._path.write_text(json.dumps(self.config))
        self.control, theirs = socket.socketpair()
        self.control.settimeout(PATIENCE_S)
        self._log.touch()
        self.process = nursery().start("flood" if self._flood else "broker", self._path, self._log, theirs)
        theirs.close()
        self._lines = self.control.makefile("rb")
        assert self.read_line() == {"event": "ready"}, self._log.read_text()
        return self

    def read_line(self) -> dict[str, Any]:
        line = self._lines.readline()
        if not line:
            raise AssertionError(f"{self.name} closed its control line:\n{self._log.read_text()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def tell(self, **request: Any) -> None:
        self.control.sendall(json.dumps(request).encode() + b"\n")

    def status(self) -> dict[str, Any]:
        self.tell(do="status")
        while "status" not in (answer := self.read_line()):
            pass
        status: dict[str, Any] = answer["status"]
        return status

    async def wait_for(self, **wanted: Any) -> dict[str, Any]:
        """Until the status has these values; `links` counts the links that are up."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                status = self.status()
                seen = {**status, "links": sum(link["up"] for link in status["links"])}
                if all(seen[name] == value for name, value in wanted.items()):
                    return status
                await asyncio.sleep(0.02)

    def stop(self) -> int:
        """Graceful, by closing the control line."""
        self._lines.close()
        self.control.close()
        return self.process.wait(PATIENCE_S)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)
        self._lines.close()
        self.control.close()

    def output(self) -> str:
        return self._log.read_text()

    def logged(self, kind: str = "") -> list[LogEvent]:
        """Whole lines: the last one may be half written."""
        lines = self.events.read_bytes().split(b"\n")[:-1]
        events = [msgspec.json.decode(line, type=LogEvent) for line in lines if line]
        return [event for event in events if not kind or event.kind == kind]


class Poker:
    """A client's stream by hand: sends any bytes, reads any answer."""

    def __init__(
        self, address: str, name: str, *, tls: TlsFiles | None = None, method: str = CONNECT
    ) -> None:
        self.name = name
        self.stream = DialledStream(address, method, max_message_bytes=64 << 20, tls=tls)

    async def greet(self, incarnation: int = 1, kind: Any = "client") -> Poker:
        await self.stream.write(hello(self.name, kind, incarnation))
        self.broker = await read_hello(self.stream, "broker", Limits(**UNHURRIED))
        return self

    async def send(self, body: Any, request: int = 0) -> None:
        await self.stream.write(encode(Envelope(body, 0, request, VERSION)))

    async def receive(self) -> Envelope:
        async with asyncio.timeout(PATIENCE_S):
            data = await self.stream.read()
        assert data is not None, "the stream ended"
        return decode(data)

    async def close(self) -> None:
        await self.stream.close()
