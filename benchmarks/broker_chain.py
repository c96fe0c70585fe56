"""Messages per second through three brokers, against a bare grpc.aio relay of three processes.

The same payload, the same machine, the same minute, alternately: at least 60 % of the bare relay.
Also: one broker with a thousand client streams. `--calls` counts system calls per hop with strace.

python -m benchmarks.broker_chain [--messages N] [--rounds N] [--calls]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from broker_grpc.client import Client
from broker_grpc.content.language import format_publication
from broker_grpc.eventloop import run
from broker_grpc.transport import DialledStream
from protos.envelope import VERSION, encode
from protos.messages import Envelope, Publication, Value

ROOT = Path(__file__).parents[1]
LIMIT = 0.60
STREAMS = 1000
CONTENT: dict[str, Value] = {
    "class": "STOCK", "symbol": "YHOO", "open": 18.37, "high": 18.62, "low": 18.37, "close": 18.37,
    "volume": 6200, "date": "5-Sep-96", "openClose%Diff": 0.0, "highLow%Diff": 0.014,
    "closeEqualsLow": "true", "closeEqualsHigh": "false",
}  # fmt: skip

RELAY = """
import os, sys
os.environ["GRPC_EXPERIMENTS"] = "-event_engine_client,-event_engine_listener"
import asyncio, grpc
port, target = sys.argv[1:]
async def link(_, context):
    if target == "none":
        channel, out = None, context  # the last one sends everything back to the sink that connected
    else:
        channel = grpc.aio.insecure_channel("127.0.0.1:" + target)
        out = channel.stream_stream("/relay/Link")()
    async def back():
        while (data := await out.read()) is not grpc.aio.EOF:
            await context.write(data)
    task = asyncio.create_task(back()) if channel else None
    while (data := await context.read()) is not grpc.aio.EOF:
        await out.write(data)
async def main():
    server = grpc.aio.server()
    handler = grpc.stream_stream_rpc_method_handler(link)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("relay", {"Link": handler}),))
    server.add_insecure_port("127.0.0.1:" + port)
    await server.start()
    print("ready", flush=True)
    await server.wait_for_termination()
asyncio.run(main())
"""


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Processes:
    """Children that end with the benchmark."""

    def __init__(self) -> None:
        self.children: list[subprocess.Popen[bytes]] = []

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            [sys.executable, *command], env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE
        )
        self.children.append(child)
        return child

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self.children:
            child.terminate()
        for child in self.children:
            child.wait(10)


async def eventually(attempt: Callable[[], Awaitable[bool]], patience_s: float = 20) -> None:
    async with asyncio.timeout(patience_s):
        while not await attempt():
            await asyncio.sleep(0.1)


# ---------------------------------------------------------------- the bare relay


async def bare(processes: Processes, messages: int, payload: bytes) -> tuple[float, list[int]]:
    """Source -> three relays -> sink, all by hand. The last relay sends what it gets back to the source's
    call, so the last hop is the stream back through all of them: so count one way only."""
    a, b, c = (str(port) for port in free_ports(3))
    children = [processes.start("-c", SINK, c), processes.start("-c", RELAY, b, c), processes.start("-c", RELAY, a, b)]
    for child in children:
        assert child.stdout is not None
        child.stdout.readline()
    stream = DialledStream(f"127.0.0.1:{a}", "/relay/Link", max_message_bytes=1 << 20)
    await stream.write(b"warm")
    await stream.read()
    start = time.perf_counter()
    for _ in range(messages - 1):
        await stream.write(payload)
    await stream.write(b"last")
    assert await stream.read() == b"done"
    seconds = time.perf_counter() - start
    await stream.close()
    return messages / seconds, [child.pid for child in children]


# The third process: relays into a queue of its own as a broker does to its subscriber, and says when all came.
SINK = RELAY.replace(
    "        channel, out = None, context  # the last one sends everything back to the sink that connected\n",
    "        channel, out = None, Sink(context)\n",
).replace(
    "async def link",
    '''class Sink:
    def __init__(self, context):
        self.context = context
    async def write(self, data):
        if data in (b"warm", b"last"):
            await self.context.write(b"done")
async def link''',
).replace("port, target = sys.argv[1:]", 'port, target = sys.argv[1], "none"')


# ---------------------------------------------------------------- three brokers


def broker_configs(folder: Path, count: int) -> list[dict[str, Any]]:
    ports = free_ports(count)
    configs: list[dict[str, Any]] = []
    for number, port in enumerate(ports):
        neighbours = []
        if number:
            neighbours.append({"id": f"B{number}", "address": f"127.0.0.1:{ports[number - 1]}", "dial": True})
        if number + 1 < count:
            neighbours.append({"id": f"B{number + 2}", "address": f"127.0.0.1:{ports[number + 1]}"})
        configs.append(
            {
                "broker": f"B{number + 1}",
                "listen": f"127.0.0.1:{port}",
                "neighbours": neighbours,
                "events": str(folder / f"B{number + 1}.jsonl"),
                "options": {"output_queue_messages": 1_000_000, "output_queue_bytes": 1 << 30},
            }
        )
    return configs


def start_brokers(processes: Processes, folder: Path, count: int) -> tuple[list[dict[str, Any]], list[int]]:
    configs = broker_configs(folder, count)
    pids = []
    for config in configs:
        path = folder / f"{config['broker']}.json"
        path.write_text(json.dumps(config))
        pids.append(processes.start("-m", "broker_grpc", "--config", str(path)).pid)
    return configs, pids


async def chain(processes: Processes, messages: int, folder: Path) -> tuple[float, list[int]]:
    """Publisher at B1, subscriber at B3."""
    configs, pids = start_brokers(processes, folder, 3)
    first, last = configs[0]["listen"], configs[-1]["listen"]
    async with Client(first, id="pub") as publisher, Client(last, id="sub", notifications=messages) as subscriber:
        await publisher.advertise("[class,eq,'STOCK']")
        await subscriber.subscribe("[class,eq,'STOCK']")

        async def through() -> bool:
            await publisher.publish(CONTENT)
            try:
                await asyncio.wait_for(anext(subscriber), 0.3)
            except TimeoutError:
                return False
            return True

        await eventually(through)
        await asyncio.sleep(0.5)
        while subscriber._inbox:
            await anext(subscriber)
        start = time.perf_counter()
        for _ in range(messages):
            await publisher.publish(CONTENT)
        for _ in range(messages):
            await asyncio.wait_for(anext(subscriber), 20)
        seconds = time.perf_counter() - start
    return messages / seconds, pids


async def measure(messages: int, rounds: int) -> float:
    payload = encode(Envelope(Publication("pub:1000", "pub", "B1:a1", 1 << 50, CONTENT), 2, 0, VERSION))
    print(f"payload {len(payload)} bytes: {format_publication(CONTENT)}")
    ratios = []
    for number in range(rounds):
        with Processes() as processes:
            relayed, _ = await bare(processes, messages, payload)
        with Processes() as processes, tempfile.TemporaryDirectory() as folder:
            brokered, _ = await chain(processes, messages, Path(folder))
        ratios.append(brokered / relayed)
        print(f"round {number + 1}: relay {relayed:.0f}/s, brokers {brokered:.0f}/s, ratio {ratios[-1]:.2f}")
    return statistics.median(ratios)


# ---------------------------------------------------------------- a thousand streams


async def many_streams() -> float:
    """Seconds for one publication to reach a thousand clients, each with a stream of its own."""
    with Processes() as processes, tempfile.TemporaryDirectory() as folder:
        configs, _ = start_brokers(processes, Path(folder), 1)
        address = configs[0]["listen"]
        async with Client(address, id="pub", connect_timeout_s=20) as publisher:
            await publisher.advertise("[class,eq,'STOCK']")
            clients = []
            for number in range(STREAMS):
                clients.append(await Client(address, id=f"c{number}", connect_timeout_s=20).__aenter__())
                await clients[-1].subscribe("[class,eq,'STOCK']")
            start = time.perf_counter()
            await publisher.publish(CONTENT)
            got = await asyncio.gather(*(asyncio.wait_for(anext(client), 30) for client in clients))
            seconds = time.perf_counter() - start
            assert len({notification.id for notification in got}) == 1
            await asyncio.gather(*(client._runtime.hang_up() for client in clients))
            return seconds


# ---------------------------------------------------------------- system calls


def count_calls(pid: int, action: Callable[[], None]) -> dict[str, int]:
    """System calls of a process while `action` runs."""
    with tempfile.NamedTemporaryFile() as output:
        tracer = subprocess.Popen(
            ["strace", "-c", "-f", "-q", "-p", str(pid), "-o", output.name], stderr=subprocess.DEVNULL
        )
        time.sleep(1)
        action()
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
        rows = [line.split() for line in Path(output.name).read_text().splitlines()]
    return {row[-1]: int(row[3]) for row in rows if len(row) >= 5 and row[3].isdigit() and row[-1] != "total"}


PACED = 500


async def calls_per_hop() -> dict[str, float]:
    """Of the middle broker, at a pace at which every message wakes it anew, as in virtual time."""
    with Processes() as processes, tempfile.TemporaryDirectory() as folder:
        configs, pids = start_brokers(processes, Path(folder), 3)
        first, last = configs[0]["listen"], configs[-1]["listen"]
        async with Client(first, id="pub") as publisher, Client(last, id="sub") as subscriber:
            await publisher.advertise("[class,eq,'STOCK']")
            await subscriber.subscribe("[class,eq,'STOCK']")
            await asyncio.sleep(1)
            loop = asyncio.get_running_loop()

            def paced() -> None:
                asyncio.run_coroutine_threadsafe(publish_paced(publisher), loop).result()

            counts = await asyncio.to_thread(count_calls, pids[1], paced)
    return {name: count / PACED for name, count in counts.items() if count > PACED / 20}


async def publish_paced(publisher: Client) -> None:
    for _ in range(PACED):
        await publisher.publish(CONTENT)
        await asyncio.sleep(0.005)


def main() -> int:
    parser = argparse.ArgumentParser(description="Broker chain against a bare relay.")
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", action="store_true", help="only count system calls per hop (needs strace)")
    parser.add_argument("--no-streams", action="store_true", help="leave out the thousand client streams")
    arguments = parser.parse_args()
    if arguments.calls:
        found = run(calls_per_hop())
        print(f"{sum(found.values()):.1f} system calls per hop: " + json.dumps(found))
        return 0
    ratio = run(measure(arguments.messages, arguments.rounds))
    print(f"broker chain: {ratio:.2f} of the bare relay at the median (limit {LIMIT})")
    if not arguments.no_streams:
        print(f"{STREAMS} client streams at one broker: all notified in {run(many_streams()):.2f} s")
    return 0 if ratio >= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
