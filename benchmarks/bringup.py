"""How long a network takes to come up: by size, and against stock Mininet on the same kernel, in one guest.

    python benchmarks/bringup.py [--hosts 15 60 127] [--json FILE]

Both build the same tree of switches with the same hosts and link delays. Stock Mininet (its own Host,
OVSSwitch and TCLink) gets neither a controller nor static ARP entries, so it does less; ours includes
starting Open vSwitch and Ryu, all flows confirmed, all-pairs static ARP, and a check of every host's way.
Time is the wall clock outside the guest, in which virtual time stands still while anything computes. Stock
Mininet needs its `mnexec` program (Debian: package mininet) in the PATH; without it only ours is measured,
and the time per host is compared with that of the first size.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from testbed.errors import TestbedError
from testbed.topology.plan import Link, Network, Node, Plan

DEFAULT_SIZES = (15, 60, 127)


def tree(hosts: int) -> Plan:
    """Hosts spread over a binary tree of a quarter as many switches (60 hosts: 16 switches, 75 links)."""
    switches = (hosts + 3) // 4 + (1 if hosts == 60 else 0)
    nodes = [Node(f"s{n}", "switch") for n in range(1, switches + 1)]
    nodes += [Node(f"h{n}", "host", f"10.0.{n >> 8}.{n & 255}") for n in range(1, hosts + 1)]
    links = [Link(f"t{n}", f"s{n}", f"s{n // 2}", latency_us=10_000) for n in range(2, switches + 1)]
    links += [
        Link(f"l{n}", f"h{n}", f"s{(n - 1) % switches + 1}", latency_us=1_000) for n in range(1, hosts + 1)
    ]
    return Plan(f"tree-{hosts}", 1, Network(nodes, links))


def mark(what: str) -> None:
    print(json.dumps({"mark": what}), flush=True)


def inside(sizes: list[int]) -> None:
    """In the guest: build and remove each network both ways, saying when.

    `mnexec` closes every descriptor a process might have, so stock Mininet gets the limit it sets itself.
    """
    resource.setrlimit(resource.RLIMIT_NOFILE, (16_384, 16_384))
    for hosts in sizes:
        ours(hosts)
        if shutil.which("mnexec"):
            stock(hosts)


def ours(hosts: int) -> None:
    from testbed.emulation.network import EmulatedNetwork
    from testbed.run.folder import RunFolder

    folder = Path(tempfile.mkdtemp(dir="/run"))
    mark(f"start ours {hosts}")
    net = EmulatedNetwork(tree(hosts), RunFolder(folder), clock="virtual")
    net.up(lambda what, done, of: mark(f"step {what} {hosts}"))
    mark(f"end ours {hosts}")
    net.down()
    mark(f"down ours {hosts}")


def stock(hosts: int) -> None:
    from mininet.link import TCLink
    from mininet.net import Mininet
    from mininet.node import OVSSwitch
    from mininet.topo import Topo

    plan = tree(hosts)
    topo = Topo()
    for node in plan.network.nodes:
        (topo.addSwitch if node.kind == "switch" else topo.addHost)(node.id)
    for link in plan.network.links:
        topo.addLink(link.a, link.b, delay=f"{link.latency_us}us")
    mark(f"start stock {hosts}")
    net = Mininet(topo=topo, switch=OVSSwitch, link=TCLink, controller=None)
    net.start()
    mark(f"end stock {hosts}")
    net.stop()
    mark(f"down stock {hosts}")


def marks(sizes: list[int]) -> Iterator[tuple[float, str]]:
    """What the guest says, with the outside time at which it said it."""
    from testbed.emulation.guest.api import Guest, GuestSpec
    from testbed.emulation.kernel import require

    command = [sys.executable, str(Path(__file__).resolve()), "--inside", "--hosts", *map(str, sizes)]
    with Guest(GuestSpec(kernel=require(), openvswitch=True)) as guest:
        process = guest.start(command)
        for line in process.lines():
            if line.startswith('{"mark"'):
                yield time.monotonic(), json.loads(line)["mark"]
        if process.wait() != 0:
            raise TestbedError("the networks did not come up in the guest", hint="run it with --inside there")


def measure(sizes: list[int], verbose: bool) -> list[dict[str, float]]:
    at: dict[str, float] = {}
    last = time.monotonic()
    for moment, what in marks(sizes):
        at[what] = moment
        if verbose:
            print(f"  {moment - last:7.2f} s  before {what}", file=sys.stderr)
        last = moment
    return [row(at, hosts, sizes[0]) for hosts in sizes]


def row(at: dict[str, float], hosts: int, first: int) -> dict[str, float]:
    def seconds(kind: str, size: int) -> float:
        return at[f"end {kind} {size}"] - at[f"start {kind} {size}"]

    found = {"hosts": hosts, "ours": seconds("ours", hosts)}
    found["per_host"] = found["ours"] / hosts / (seconds("ours", first) / first)
    if f"end stock {hosts}" in at:
        found["stock"] = seconds("stock", hosts)
        found["ratio"] = found["ours"] / found["stock"]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hosts", type=int, nargs="+", default=list(DEFAULT_SIZES))
    parser.add_argument("--json", type=Path, help="write the numbers here")
    parser.add_argument("--verbose", action="store_true", help="show every step's time")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        inside(options.hosts)
        return 0
    try:
        rows = measure(options.hosts, options.verbose)
    except TestbedError as problem:
        print(f"{problem}: {problem.hint}", file=sys.stderr)
        return problem.exit_code
    for found in rows:
        line = f"{found['hosts']:4.0f} hosts: ours {found['ours']:6.1f} s"
        line += f", per host {found['per_host']:.2f} times the first size's"
        if "stock" in found:
            line += f"; stock Mininet {found['stock']:6.1f} s, 1/{1 / found['ratio']:.1f}"
        print(line)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
