"""What is tried on real emulated networks, all in one boot of the guest. Run inside it by test_network.py.

Prints one JSON line per check: {"check": name, "ok": true or false, "detail": text}.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from protos.records import FlowCounter, PortCounter, ProbeResult
from testbed.emulation.network import EmulatedNetwork, created, namespaces
from testbed.emulation.network.echo import round_trips_us
from testbed.run.folder import RunFolder
from testbed.topology.plan import (
    Broker,
    Capture,
    Client,
    Link,
    Network,
    Node,
    PairLatency,
    Plan,
    Probes,
)

Check = Callable[..., str]
PORT = 5000


def hosts(*names: str, subnet: int = 0) -> list[Node]:
    return [Node(id=name, kind="host", address=f"10.0.{subnet}.{n}") for n, name in enumerate(names, 1)]


def switches(*names: str) -> list[Node]:
    return [Node(id=name, kind="switch") for name in names]


def mesh() -> Plan:
    """Four hosts around a triangle of switches; h1 to h2 and back is 152 ms."""
    links = [
        Link("l1", "h1", "s1", latency_us=1_000),
        Link("l2", "h2", "s2", latency_us=5_000),
        Link("l3", "h3", "s3"),
        Link("l4", "h4", "s3", latency_us=137),
        Link("c12", "s1", "s2", latency_us=70_000),
        Link("c23", "s2", "s3", latency_us=10_000),
        Link("c13", "s1", "s3", latency_us=100_000),
    ]
    return Plan(
        name="mesh",
        seed=1,
        network=Network([*hosts("h1", "h2", "h3", "h4"), *switches("s1", "s2", "s3")], links),
        brokers=[
            Broker("B1", "h1", "10.0.0.1", PORT),
            Broker("B2", "h2", "10.0.0.2", PORT),
            Broker("B3", "h2", "10.0.0.2", PORT + 1),
        ],
        clients=[Client("c1", "h3", "B1")],
        capture=Capture(),
        probes=Probes(pairs=[("h1", "h2"), ("h3", "h4")], every_us=500_000),
    )


def shaped() -> Plan:
    """One switch; to b with jitter, to c with loss, to d at 8 Mbit/s."""
    links = [
        Link("a", "a", "s1"),
        Link("b", "b", "s1", latency_us=10_000, jitter_us=5_000),
        Link("c", "c", "s1", latency_us=1_000, loss=0.1),
        Link("d", "d", "s1", latency_us=20_000, bandwidth_bps=8_000_000),
    ]
    return Plan("shaped", 2, Network([*hosts("a", "b", "c", "d"), *switches("s1")], links))


MATRIX = [[0, 10_000, 50_000], [12_000, 0, 3_000], [1_234, 80_000, 0]]  # no set of links has these


def matrix() -> Plan:
    names = ["p", "q", "r"]
    links = [Link(name, name, "s1") for name in names]
    pairs = [
        PairLatency(a, b, MATRIX[i][j]) for i, a in enumerate(names) for j, b in enumerate(names) if i != j
    ]
    return Plan("matrix", 3, Network([*hosts(*names), *switches("s1")], links, pairs))


@contextlib.contextmanager
def running(plan: Plan, folder: Path) -> Iterator[EmulatedNetwork]:
    folder.mkdir(parents=True, exist_ok=True)
    net = EmulatedNetwork(plan, RunFolder(folder), clock="virtual")
    net.up()
    try:
        yield net
    finally:
        net.down()


def rtt(net: EmulatedNetwork, source: str, target: str, seconds: float = 2) -> float | None:
    address = net.wiring.nodes[target].address
    found = round_trips_us(net.fabric.namespaces, [(source, target, address)], seconds=seconds)
    return found.get((source, target))


def bound(net: EmulatedNetwork, node: str, kind: int, port: int = 0) -> socket.socket:
    with namespaces.inside(net.fabric.place(node)):
        made = socket.socket(socket.AF_INET, kind)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    made.bind((net.wiring.nodes[node].address, port))
    return made


def near(got: float | None, wanted: float, tolerance: float) -> str:
    text = f"{got} us, planned {wanted}"
    if got is None or abs(got - wanted) > tolerance:
        raise AssertionError(text)
    return text


# On the mesh


def delays_are_exact(net: EmulatedNetwork) -> str:
    names = ["h1", "h2", "h3", "h4"]
    pairs = [(a, b, net.wiring.nodes[b].address) for a in names for b in names if a != b]
    measured = round_trips_us(net.fabric.namespaces, pairs, seconds=2)
    assert net.planned_rtt_us("h1", "h2") == 152_000
    errors = {(a, b): abs(measured[a, b] - (net.planned_rtt_us(a, b) or 0)) for a, b, _address in pairs}
    assert max(errors.values()) <= 50, errors
    return f"largest error {max(errors.values()):.1f} us"


def mininet_interface_works(net: EmulatedNetwork) -> str:
    from mininet.net import Mininet

    assert isinstance(net.mininet, Mininet)
    h1, s1 = net.mininet.get("h1", "s1")
    assert "10.0.0.1/8" in h1.cmd("ip -4 addr show"), h1.cmd("ip addr")
    assert h1.IP() == "10.0.0.1"
    assert "0% packet loss" in h1.cmd("ping -c1 10.0.0.2")
    assert h1.pexec("echo hello")[0].strip() == "hello"
    assert "nw_dst=10.0.0.1" in s1.dpctl("dump-flows"), s1.dpctl("dump-flows")
    link = net.mininet.linksBetween(h1, s1)[0]
    assert {link.intf1.name, link.intf2.name} == {"h1-eth0", "s1-eth1"}
    net.mininet.configLinkStatus("h3", "s3", "down")
    net.await_routes()
    assert rtt(net, "h3", "h4") is None
    net.mininet.configLinkStatus("h3", "s3", "up")
    net.await_routes()
    time.sleep(1)  # the kernel takes up to so long to act on the far end's carrier
    near(rtt(net, "h3", "h4"), 274, 50)
    link.intf1.config(delay="2ms")
    near(rtt(net, "h1", "h2"), 154_000, 50)
    net.reshape("l1", latency_us=1_000)
    return near(rtt(net, "h1", "h2"), 152_000, 50)


def prompt_works(net: EmulatedNetwork) -> str:
    """Mininet's own command line on the network, fed from a file."""
    from mininet.cli import CLI

    output, script = Path("/run/prompt.txt"), Path("/run/prompt.mn")
    commands = ["nodes", "net", "links", "dump", "link s1 s2 down", "link s1 s2 up"]
    script.write_text("\n".join([*commands, f"h1 ping -c1 h2 > {output}", "exit"]) + "\n")
    CLI(net.mininet, script=str(script))
    net.await_routes()
    assert "0% packet loss" in output.read_text(), output.read_text()
    return "nodes, net, links, dump, link, h1 ping h2"


def command_runs_on_host(net: EmulatedNetwork) -> str:
    done = net.run("h2", ["ip", "-br", "-4", "addr", "show", "h2-eth0"])
    assert done.returncode == 0
    assert "10.0.0.2/8" in done.stdout
    return done.stdout.strip()


def segments_are_not_merged(net: EmulatedNetwork) -> str:
    output = net.run("h1", ["ethtool", "-k", "h1-eth0"]).stdout
    names = ("tx-tcp-segmentation", "generic-segmentation-offload", "generic-receive-offload")
    assert all(f"{name}: off" in output for name in names), output
    return "offloads off"


def capture_is_complete(net: EmulatedNetwork) -> str:
    """A message each way between brokers, one from a client, one over the loopback; each packet once."""
    net.start_capture()
    conversation(net, "h1", "h2", PORT, b"x" * 5_000)
    conversation(net, "h3", "h1", PORT, b"y" * 100)
    conversation(net, "h2", "h2", PORT + 1, b"z" * 100)
    files = {file.file: file for file in net.stop_capture()}
    assert set(files) == {"pcap/h1-eth0.pcap", "pcap/h2-eth0.pcap", "pcap/h2-lo.pcap"}, files
    assert all(file.dropped == 0 for file in files.values()), files
    assert all(file.packets > 4 for file in files.values()), files
    data = {name: (net.run_folder.path / name).read_bytes() for name in files}
    assert all(text[:4] == bytes.fromhex("4d3cb2a1") for text in data.values()), "nanoseconds"
    assert data["pcap/h1-eth0.pcap"].count(b"x" * 1_400) + data["pcap/h2-eth0.pcap"].count(b"x" * 1_400) == 3
    assert data["pcap/h1-eth0.pcap"].count(b"y" * 100) == 2, "from the client, and back to it"
    assert data["pcap/h2-lo.pcap"].count(b"z" * 100) == 2
    return str({name: file.packets for name, file in files.items()})


def conversation(net: EmulatedNetwork, one: str, other: str, port: int, text: bytes) -> None:
    """`one` connects, sends, gets the first 100 bytes back, and both hang up."""
    with bound(net, other, socket.SOCK_STREAM, port) as server, bound(net, one, socket.SOCK_STREAM) as client:
        server.listen()
        client.connect((net.wiring.nodes[other].address, port))
        accepted, _address = server.accept()
        with accepted:
            client.sendall(text)
            got = b""
            while len(got) < len(text):
                got += accepted.recv(65536)
            accepted.sendall(got[:100])
            assert client.recv(1000) == text[:100]


def probes_follow_the_plan(net: EmulatedNetwork) -> str:
    net.start_probes()
    time.sleep(3.2)
    net.reshape("l1", latency_us=3_000)
    time.sleep(3)
    net.reshape("l1", latency_us=1_000)
    net.stop_probes()
    lines = (net.run_folder.probes / "h1.jsonl").read_bytes().splitlines()
    results = [msgspec.json.decode(line, type=ProbeResult) for line in lines]
    assert {result.planned_us for result in results} == {152_000, 156_000}, results
    errors = [abs(result.measured_us - result.planned_us) for result in results]
    assert len(results) >= 11, len(results)
    assert max(errors) < 50, errors
    assert abs(results[0].t_us - time.time_ns() // 1_000) < 10_000_000
    return f"{len(results)} probes, largest error {max(errors):.1f} us"


@contextlib.contextmanager
def cut(net: EmulatedNetwork, link: str) -> Iterator[None]:
    """The link is down meanwhile, and up afterwards whatever the check says: the next one needs it."""
    net.link_down(link)
    try:
        net.await_routes()
        yield
    finally:
        net.link_up(link)
        net.await_routes()


def link_failure_is_routed_around(net: EmulatedNetwork) -> str:
    around = ""
    for _turn in range(5):  # once is not enough to meet a cached decision
        with cut(net, "c12"):
            assert net.planned_rtt_us("h1", "h2") == 2 * (1_000 + 100_000 + 10_000 + 5_000)
            around = near(rtt(net, "h1", "h2"), 232_000, 50)
        near(rtt(net, "h1", "h2"), 152_000, 50)
    return around


def cut_off_host_is_unreachable_until_mended(net: EmulatedNetwork) -> str:
    with cut(net, "l2"):
        assert net.planned_rtt_us("h1", "h2") is None
        assert rtt(net, "h1", "h2") is None
    return near(rtt(net, "h1", "h2"), 152_000, 50)


def partition_separates_sides(net: EmulatedNetwork) -> str:
    net.partition(["s3", "h2"])
    try:
        assert rtt(net, "h1", "h2") is None
        assert rtt(net, "h1", "h3") is None
        inside = near(rtt(net, "h2", "h3"), 30_000, 50)
    finally:
        net.heal()
    near(rtt(net, "h1", "h2"), 152_000, 50)
    return inside


def counters_agree_with_each_other(net: EmulatedNetwork) -> str:
    net.stop_controller()
    folder = net.run_folder.controller
    ports = [msgspec.json.decode(line, type=PortCounter) for line in (folder / "ports.jsonl").open("rb")]
    flows = [msgspec.json.decode(line, type=FlowCounter) for line in (folder / "flows.jsonl").open("rb")]
    last = {(row.node, row.peer): row for row in ports}
    assert len(last) == 10, sorted(last)
    assert last["s1", "s3"].tx_packets == last["s3", "s1"].rx_packets > 0
    to_h1 = {row.node: row.packets for row in flows if row.target == "h1"}
    assert to_h1["s1"] == last["s1", "h1"].tx_packets > 0, (to_h1, last["s1", "h1"])
    assert {row.peer for row in flows if (row.node, row.target) == ("s1", "h1")} == {"h1"}
    assert {row.peer for row in flows} <= {row.peer for row in ports}
    return f"{len(ports)} port and {len(flows)} flow readings"


def forwarding_outlives_the_controller(net: EmulatedNetwork) -> str:
    assert net._controller is not None
    assert not net._controller.running
    time.sleep(60)
    return near(rtt(net, "h1", "h2"), 152_000, 50)


# Shapes


def stream(
    net: EmulatedNetwork, target: str, count: int, size: int, gap: float
) -> tuple[list[int], list[float]]:
    """Numbered datagrams from a; the numbers and times at which they arrived."""
    sender, receiver = bound(net, "a", socket.SOCK_DGRAM), bound(net, target, socket.SOCK_DGRAM, 9)
    address = (net.wiring.nodes[target].address, 9)
    numbers: list[int] = []
    times: list[float] = []

    def take(seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and select.select([receiver], [], [], left)[0]:
            numbers.append(int.from_bytes(receiver.recv(2048)[:4], "big"))
            times.append(time.monotonic())

    with sender, receiver:
        for number in range(count):
            sender.sendto(number.to_bytes(4, "big") + bytes(size - 4), address)
            if gap:
                take(gap)
        take(5)
    return numbers, times


def jitter_keeps_order(net: EmulatedNetwork) -> str:
    numbers, times = stream(net, "b", 1_000, 100, 0.001)
    assert numbers == list(range(1_000)), "lost or overtaken"
    gaps = [b - a for a, b in pairwise(times)]
    assert max(gaps) > 0.002, gaps
    assert min(gaps) < 0.0005, gaps
    return f"gaps {min(gaps) * 1e3:.3f} to {max(gaps) * 1e3:.3f} ms"


def jitter_spreads_around_the_delay(net: EmulatedNetwork) -> str:
    measured = [rtt(net, "a", "b") or 0 for _ in range(200)]
    assert 10_000 <= min(measured) < 14_000, min(measured)
    assert 26_000 < max(measured) <= 30_100, max(measured)
    mean = sum(measured) / len(measured)
    return near(mean, 20_000, 600)


def loss_is_as_planned(net: EmulatedNetwork) -> str:
    numbers, _times = stream(net, "c", 3_000, 100, 0.0001)
    lost = 1 - len(numbers) / 3_000
    assert 0.08 < lost < 0.12, lost
    return f"{lost:.3f} lost, 0.1 planned"


def bandwidth_is_as_planned(net: EmulatedNetwork) -> str:
    numbers, times = stream(net, "d", 800, 1_208, 0)  # 1250 bytes each with headers: 1 MB, 1 s
    assert len(numbers) == 800, len(numbers)
    seconds = times[-1] - times[0]
    assert abs(seconds - 799 * 1_250 * 8 / 8e6) < 0.005, seconds
    return f"{seconds:.4f} s"


def queue_limit_drops(net: EmulatedNetwork) -> str:
    net.reshape("d", queue_packets=50)
    numbers, _times = stream(net, "d", 800, 1_208, 0)
    assert 50 <= len(numbers) < 100, len(numbers)
    return f"{len(numbers)} of 800 passed"


def reshape_does_not_reorder(net: EmulatedNetwork) -> str:
    """Packets sent after a link became faster do not overtake those under way."""
    net.reshape("c", latency_us=200_000, loss=0.0)
    sender, receiver = bound(net, "a", socket.SOCK_DGRAM), bound(net, "c", socket.SOCK_DGRAM, 9)
    with sender, receiver:
        sender.sendto(b"slow", ("10.0.0.3", 9))
        time.sleep(0.01)
        net.reshape("c", latency_us=1_000)
        sender.sendto(b"fast", ("10.0.0.3", 9))
        order = [receiver.recv(10), receiver.recv(10)]
    assert order == [b"slow", b"fast"], order
    return near(rtt(net, "a", "c"), 2_000, 50)


def pairs_have_their_own_latency(net: EmulatedNetwork) -> str:
    names = ["p", "q", "r"]
    pairs = [(a, b, net.wiring.nodes[b].address) for a in names for b in names if a != b]
    measured = round_trips_us(net.fabric.namespaces, pairs, seconds=2)
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if i != j:
                near(measured[a, b], MATRIX[i][j] + MATRIX[j][i], 50)
    return str({f"{a}-{b}": round(value) for (a, b), value in measured.items()})


TOPO = """
from mininet.topo import Topo

class Pair(Topo):
    def build(self):
        left, right = self.addSwitch("s1"), self.addSwitch("s2")
        self.addLink(self.addHost("h1"), left, delay="2ms")
        self.addLink(self.addHost("h2"), right, delay="3ms", bw=10)
        self.addLink(left, right, delay="20ms")
"""


def topo_class_is_the_network(folder: Path) -> str:
    """A Mininet user's class in a topology file, with its own delays."""
    from testbed.topology.load import load_plan_file

    folder.mkdir(parents=True)
    (folder / "my_topo.py").write_text(TOPO)
    text = "name: x\nnetwork: {mininet: 'my_topo:Pair'}\nbrokers: {B: {count: 2}}\n"
    (folder / "file.yaml").write_text(text)
    with running(load_plan_file(folder / "file.yaml"), folder / "run") as net:
        serialisation = 2 * 58 * 8 / 10  # of a probe, both ways, at 10 Mbit/s
        return near(rtt(net, "h1", "h2"), 50_000 + serialisation, 50)


def networks_do_not_meet(one: EmulatedNetwork, other: EmulatedNetwork) -> str:
    """Two runs at once, with the same addresses and switch names."""
    near(rtt(one, "a", "d"), 40_000, 500)
    near(rtt(other, "p", "q"), 22_000, 50)
    assert not set(one.fabric.namespaces.values()) & set(other.fabric.namespaces.values())
    return "same addresses, both as planned"


# The end


def processes() -> set[int]:
    return {int(entry) for entry in os.listdir("/proc") if entry.isdigit()} - kernel_threads()


def kernel_threads() -> set[int]:
    found = set()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if not Path(f"/proc/{entry}/cmdline").read_bytes():
                found.add(int(entry))
    return found


def leftovers(before: set[int]) -> list[str]:
    kept = [str(path) for path in Path("/run/netns").glob("*")]
    kept += [str(path) for path in Path("/run/pubsub-testbed").glob("*")]
    return kept + [str(pid) for pid in processes() - before]


def nothing_is_left(before: set[int]) -> str:
    assert not leftovers(before), leftovers(before)
    return "no namespace, process or folder"


def killed_harness_is_cleaned_up(folder: Path, before: set[int]) -> str:
    child = os.fork()
    if child == 0:
        folder.mkdir(parents=True)
        net = EmulatedNetwork(mesh(), RunFolder(folder), clock="virtual")
        net.up()
        net.start_capture()
        net.start_probes()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert leftovers(before), "the harness left nothing: the test tests nothing"
    removed = created.remove_created(folder)
    time.sleep(1)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    assert not leftovers(before), leftovers(before)
    assert any("tcpdump" in name for name in removed), removed
    return f"{len(removed)} things removed"


def failed_up_leaves_nothing(folder: Path, before: set[int]) -> str:
    folder.mkdir(parents=True)
    plan = mesh()
    plan.network.links[0].a = "h2"  # h1 has no link at all
    net = EmulatedNetwork(plan, RunFolder(folder), clock="virtual")
    net._ovs.vsctl = broken  # type: ignore[method-assign]
    try:
        net.up()
    except RuntimeError:
        return nothing_is_left(before)
    raise AssertionError("up did not fail")


def broken(*_arguments: str) -> str:
    raise RuntimeError("no switches today")


ON_MESH: list[Check] = [
    delays_are_exact,
    command_runs_on_host,
    segments_are_not_merged,
    mininet_interface_works,
    prompt_works,
    capture_is_complete,
    probes_follow_the_plan,
    link_failure_is_routed_around,
    cut_off_host_is_unreachable_until_mended,
    partition_separates_sides,
    counters_agree_with_each_other,
    forwarding_outlives_the_controller,
]
ON_SHAPED: list[Check] = [
    jitter_keeps_order,
    jitter_spreads_around_the_delay,
    loss_is_as_planned,
    bandwidth_is_as_planned,
]
ON_SHAPED_LAST: list[Check] = [queue_limit_drops, reshape_does_not_reorder]
ON_MATRIX: list[Check] = [pairs_have_their_own_latency]
AT_THE_END: list[Check] = [
    topo_class_is_the_network,
    nothing_is_left,
    failed_up_leaves_nothing,
    killed_harness_is_cleaned_up,
]
ALL = [*ON_MESH, *ON_SHAPED, *ON_MATRIX, networks_do_not_meet, *ON_SHAPED_LAST, *AT_THE_END]


def attempt(check: Check, *arguments: Any) -> None:
    try:
        outcome = {"check": check.__name__, "ok": True, "detail": check(*arguments)}
    except BaseException as problem:
        detail = "".join(traceback.format_exception(problem))
        outcome = {"check": check.__name__, "ok": False, "detail": detail}
    print(json.dumps(outcome), flush=True)


def main() -> None:
    folder = Path(tempfile.mkdtemp(dir="/run"))
    before = processes()
    with running(mesh(), folder / "mesh") as net:
        for check in ON_MESH:
            attempt(check, net)
    with running(shaped(), folder / "shaped") as net, running(matrix(), folder / "matrix") as other:
        for check in ON_SHAPED:
            attempt(check, net)
        for check in ON_MATRIX:
            attempt(check, other)
        attempt(networks_do_not_meet, net, other)
        for check in ON_SHAPED_LAST:
            attempt(check, net)
    attempt(topo_class_is_the_network, folder / "topo")
    attempt(nothing_is_left, before)
    attempt(failed_up_leaves_nothing, folder / "failed", before)
    attempt(killed_harness_is_cleaned_up, folder / "killed", before)


if __name__ == "__main__":
    main()
