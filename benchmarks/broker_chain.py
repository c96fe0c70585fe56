"""Messages per second through three brokers, against a bare grpc.aio relay of three processes.

The same payload, the same machine, the same minute, alternately: at least 60 % of the bare relay. On a
machine with other work the messages per second of both are those of its scheduler; the processor time per
message, printed beside it, tells what each costs there too.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any

from broker_grpc.client.api import Client
from broker_grpc.content.language import format_publication, parse_filter
from broker_grpc.core.limits import Limits
from broker_grpc.process.eventloop import run
from broker_grpc.process.handshake import hello, read_hello
from broker_grpc.process.transport import CONNECT, DialledStream, StreamLost
from protos.body import Body, Envelope
from protos.client_messages import Advertisement, Publication, Subscription
from protos.content_messages import Value
from protos.core_messages import Ack
from protos.envelope import VERSION, decode, encode

ROOT = Path(__file__).parents[1]
LIMIT = 0.60
STREAMS = 1000
PATIENCE_S = 300  # for processes to start, on a machine with much else to do
CONTENT: dict[str, Value] = {
    "class": "STOCK", "symbol": "YHOO", "open": 18.37, "high": 18.62, "low": 18.37, "close": 18.37,
    "volume": 6200, "date": "5-Sep-96", "openClose%Diff": 0.0, "highLow%Diff": 0.014,
    "closeEqualsLow": "true", "closeEqualsHigh": "false",
}  # fmt: skip

# What is received goes to the next process, or in the last process to whoever has opened a sink stream.
RELAY = """
import os, sys
os.environ["GRPC_EXPERIMENTS"] = "-event_engine_client,-event_engine_listener"
import asyncio, grpc
port, target = sys.argv[1:]
sinks = []
async def link(_, context):
    if target != "none":
        out = grpc.aio.insecure_channel("127.0.0.1:" + target).stream_stream("/relay/Link")()
    else:
        out = sinks[0]
    while (data := await context.read()) is not grpc.aio.EOF:
        await out.write(data)
async def sink(_, context):
    await context.write(b"welcome")
    sinks.append(context)
    while await context.read() is not grpc.aio.EOF:
        pass
async def main():
    server = grpc.aio.server()
    methods = {"Link": link, "Sink": sink}
    methods = {name: grpc.stream_stream_rpc_method_handler(method) for name, method in methods.items()}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("relay", methods),))
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


# ---------------------------------------------------------------- the bare relay


class Pipe:
    """A way from a source stream to a sink stream, through three processes."""

    def __init__(self, source: DialledStream, sink: DialledStream, pids: list[int]) -> None:
        self.source = source
        self.sink = sink
        self.pids = pids

    def processor_s(self) -> float:
        """Processor time of the three, so far."""
        ticks = 0
        for pid in self.pids:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    async def per_second(self, messages: list[bytes]) -> float:
        async def send() -> None:
            for data in messages:
                await self.source.write(data)

        start = time.perf_counter()
        sending = asyncio.create_task(send())
        for _ in messages:
            assert await self.sink.read() is not None
        seconds = time.perf_counter() - start
        await sending
        return len(messages) / seconds


async def bare(processes: Processes) -> Pipe:
    """Source -> three relays -> sink: as many transfers as publisher -> three brokers -> subscriber."""
    a, b, c = (str(port) for port in free_ports(3))
    pids = []
    for port, target in ((c, "none"), (b, c), (a, b)):
        child = processes.start("-c", RELAY, port, target)
        assert child.stdout is not None
        child.stdout.readline()
        pids.append(child.pid)
    sink = DialledStream(f"127.0.0.1:{c}", "/relay/Sink", max_message_bytes=1 << 20)
    await sink.write(b"hello")
    await sink.read()
    return Pipe(DialledStream(f"127.0.0.1:{a}", "/relay/Link", max_message_bytes=1 << 20), sink, pids)


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


async def open_client(address: str, name: str, body: Body) -> DialledStream:
    """A bare stream, as the relay has: connect when the broker is there, make one request, see its Ack."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            stream = DialledStream(address, CONNECT, max_message_bytes=1 << 20)
            try:
                await stream.write(hello(name, "client", 1))
                await read_hello(stream, "broker", Limits())
                break
            except StreamLost:
                await stream.close()
                await asyncio.sleep(0.2)
    await stream.write(encode(Envelope(body, 0, 1, VERSION)))
    answer = decode(await stream.read() or b"").body
    assert isinstance(answer, Ack), answer
    assert not answer.error, answer
    return stream


async def chain(processes: Processes, folder: Path) -> Pipe:
    """Publisher at B1, subscriber at B3, both by hand: what is compared is brokers with relays."""
    configs, pids = start_brokers(processes, folder, 3)
    stock = parse_filter("[class,eq,'STOCK']").predicates
    publisher = await open_client(configs[0]["listen"], "pub", Advertisement("a1", "pub", stock))
    subscriber = await open_client(configs[-1]["listen"], "sub", Subscription("s1", "sub", stock))
    await until_through(publisher, subscriber)
    return Pipe(publisher, subscriber, pids)


def encoded(number: int) -> bytes:
    return encode(Envelope(Publication(f"pub:{number}", "pub", "a1", 1 << 50, CONTENT), 0, 0, VERSION))


async def until_through(publisher: DialledStream, subscriber: DialledStream) -> None:
    """Until the overlay is up and the subscription has reached the publisher; nothing is left under way."""
    reading = asyncio.create_task(subscriber.read())
    sent = 0
    async with asyncio.timeout(PATIENCE_S):
        while not reading.done():
            await publisher.write(encoded(1_000_000 + sent))
            sent += 1
            await asyncio.wait([reading], timeout=0.3)
        # FIFO: all that can still come has come when the last of them has.
        await publisher.write(encoded(2_000_000))
        while True:
            envelope = decode(await reading or b"")
            assert isinstance(envelope.body, Publication)
            if envelope.body.id == "pub:2000000":
                return
            reading = asyncio.create_task(subscriber.read())


async def measure(messages: int, rounds: int) -> float:
    """Both stand side by side and work in turns, so that whatever else the machine does hits both."""
    print(f"payload {len(encoded(0))} bytes: {format_publication(CONTENT)}")
    ratios = []
    with Processes() as processes, tempfile.TemporaryDirectory() as folder:
        relays, brokers = await bare(processes), await chain(processes, Path(folder))
        ready = [encoded(number) for number in range(messages)]
        for pipe in (relays, brokers):
            await pipe.per_second(ready[:100])
        before = relays.processor_s(), brokers.processor_s()
        for number in range(rounds):
            relayed, brokered = await relays.per_second(ready), await brokers.per_second(ready)
            ratios.append(brokered / relayed)
            rates = f"relays {relayed:.0f}/s, brokers {brokered:.0f}/s"
            print(f"round {number + 1}: {rates}, ratio {ratios[-1]:.2f}", flush=True)
        relayed, brokered = relays.processor_s() - before[0], brokers.processor_s() - before[1]
        each = 1e6 / (messages * rounds * 3)
        print(
            f"processor time per message and process: relay {relayed * each:.0f} µs, "
            f"broker {brokered * each:.0f} µs, ratio {relayed / brokered:.2f}"
        )
        for stream in (relays.source, relays.sink, brokers.source, brokers.sink):
            await stream.close()
    return statistics.median(ratios)


# ---------------------------------------------------------------- a thousand streams


async def many_streams() -> float:
    """Seconds for one publication to reach a thousand clients, each with a stream of its own."""
    with Processes() as processes, tempfile.TemporaryDirectory() as folder:
        configs, _ = start_brokers(processes, Path(folder), 1)
        address = configs[0]["listen"]
        async with Client(address, id="pub", connect_timeout_s=60) as publisher:
            await publisher.advertise("[class,eq,'STOCK']")
            clients = []
            for number in range(STREAMS):
                clients.append(await Client(address, id=f"c{number}", connect_timeout_s=60).__aenter__())
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
        async with (
            Client(first, id="pub", connect_timeout_s=60) as publisher,
            Client(last, id="sub", connect_timeout_s=60) as subscriber,
        ):
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
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=15)
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
