"""Makes tests/analysis/data/overlay.pcap: real gRPC traffic of the project's Envelopes, with its true counts.

    python tests/analysis/make_fixture.py        (needs tcpdump and the right to capture on lo)

Two "brokers" A and B hold an Overlay.Link on loopback and a client holds a PubSub.Connect to B. What each
side put into its stream is counted by type and written beside the capture as overlay.json.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc

from protos.body import Envelope
from protos.client_messages import Advertisement, Publication, Subscription
from protos.content_messages import Operator, Predicate
from protos.core_messages import Heartbeat, Hello, PeerKind
from protos.envelope import decode, encode, encoded_size

DATA = Path(__file__).parent / "data"
TRUTH: dict[str, Counter[str]] = {}
BYTES: dict[str, Counter[str]] = {}
IDENTITY: Any = lambda data: data  # noqa: E731


def put(who: str, envelope: Envelope) -> bytes:
    TRUTH.setdefault(who, Counter())[envelope.body.type] += 1
    BYTES.setdefault(who, Counter())[envelope.body.type] += encoded_size(envelope)
    return encode(envelope)


def traffic(who: str, peer_kind: PeerKind, count: int, seed: int) -> list[Envelope]:
    rng = random.Random(seed)
    out = [Envelope(Hello(who, peer_kind, 1, 1), 0, 0, 1)]
    for i in range(count):
        kind = rng.choice(["publication"] * 5 + ["subscription", "heartbeat", "advertisement"])
        out.append(Envelope(body(kind, who, i, rng), rng.randint(0, 9), 0, 1))
    return out


def body(kind: str, who: str, i: int, rng: random.Random) -> Any:
    predicates = (
        Predicate("class", Operator.EQ, "STOCK"),
        Predicate("price", Operator.GT, rng.random()),
    )
    if kind == "publication":
        size = rng.choice([0, 10, 200, 1500]) if i % 60 else 20_000
        attributes = {"class": "STOCK", "price": rng.random()}
        return Publication(f"{who}:{i}", who, "a1", 1_000_000 + i, attributes, bytes(rng.randbytes(size)))
    if kind == "subscription":
        return Subscription(f"s{i}", who, predicates)
    if kind == "advertisement":
        return Advertisement(f"a{i}", who, predicates)
    return Heartbeat(i)


class Server(grpc.GenericRpcHandler):  # type: ignore[misc]
    def __init__(self, name: str) -> None:
        self.name = name

    def service(self, details: Any) -> Any:
        return grpc.stream_stream_rpc_method_handler(self.talk, IDENTITY, IDENTITY)

    async def talk(self, requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
        incoming = aiter(requests)
        first = decode(await anext(incoming))
        peer = first.body.id  # type: ignore[union-attr]
        for envelope in traffic(self.name, PeerKind.BROKER, 40, len(peer)):
            yield put(f"{self.name}>{peer}", envelope)
        async for _ in incoming:
            pass


async def talk(port: int, path: str, who: str, kind: PeerKind, count: int, peer: str) -> None:
    own_connection = [("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=own_connection) as channel:
        call = channel.stream_stream(path, IDENTITY, IDENTITY)()
        for envelope in traffic(who, kind, count, count):
            await call.write(put(f"{who}>{peer}", envelope))
        await call.done_writing()
        async for _ in call:
            pass
        assert await call.code() == grpc.StatusCode.OK


async def main() -> None:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Server("B"),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    pcap = DATA / "overlay.pcap"
    command = [
        "tcpdump",
        "-i",
        "lo",
        "--immediate-mode",
        "-U",
        "-s",
        "0",
        "--time-stamp-precision",
        "nano",
        "-w",
        str(pcap),
    ]
    with subprocess.Popen([*command, f"tcp port {port}"], stderr=subprocess.PIPE, text=True) as tcpdump:
        assert tcpdump.stderr is not None
        while "listening on" not in tcpdump.stderr.readline():
            pass
        overlay = talk(port, "/testbed.broker.Overlay/Link", "A", PeerKind.BROKER, 120, "B")
        client = talk(port, "/testbed.broker.PubSub/Connect", "c1", PeerKind.CLIENT, 30, "B")
        await asyncio.gather(overlay, client)
        await server.stop(None)
        await asyncio.sleep(1)
        tcpdump.terminate()
        print(tcpdump.stderr.read())
    truth = {"port": port, "messages": TRUTH, "bytes": BYTES}
    (DATA / "overlay.json").write_text(json.dumps(truth, indent=1, sort_keys=True) + "\n")
    print(pcap.stat().st_size, "bytes", sum(sum(c.values()) for c in TRUTH.values()), "messages")


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    asyncio.run(main())
