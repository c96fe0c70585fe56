"""Traffic of the network's links: by the hosts' captures, by the switches' ports, and by their flows."""

from __future__ import annotations

from ipaddress import IPv4Address

import pandas as pd

from testbed.analysis.evidence.runs import Run

COLUMNS = {
    "link": "link id of the plan",
    "source": "node that sends",
    "target": "node that receives",
    "pcap_packets": "packets the sending host's capture shows, as far as its filter takes them (not the "
    "probes); null = no capture there (switches have none)",
    "pcap_bytes": "their bytes on the wire",
    "counter_packets": "packets by the switch's port counters, since the network was made; null = no counter",
    "counter_bytes": "their bytes",
    "counter_dropped": "packets dropped at the switch's port",
    "flow_packets": "packets that the sending switch's flows sent this way, before the link's queue, so more "
    "than counter_packets by what the queue or the link's loss took; of a re-routed flow, all since the "
    "reading before counts for the new way; null = the sender is no switch",
    "flow_bytes": "their bytes",
    "utilisation": "bytes (counters, else captures) x 8 / (bandwidth x duration); null = no limit",
}
COUNTERS = ["rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "rx_dropped", "tx_dropped"]
Ends = tuple[str, str]  # sender, receiver


def links(facts: pd.DataFrame, ports: pd.DataFrame, flows: pd.DataFrame, runs: list[Run]) -> pd.DataFrame:
    """`ports`, `flows`: PortCounter and FlowCounter rows of all runs."""
    rows = []
    for run in runs:
        seen = _captured(facts[facts["run"] == run.key], run)
        counted = _counted(ports[ports["run"] == run.key])
        routed = _routed(flows[flows["run"] == run.key])
        seconds = (run.manifest.last_us - run.manifest.first_us) / 1e6
        for link in run.plan.network.links:
            for ends in ((link.a, link.b), (link.b, link.a)):
                witnesses = (
                    *seen.get(ends, (None, None)),
                    *counted.get(ends, (None, None, None)),
                    *routed.get(ends, (None, None)),
                )
                used = _utilisation(witnesses[3], witnesses[1], link.bandwidth_bps * seconds)
                rows.append((run.key, link.id, *ends, *witnesses, used))
    frame = pd.DataFrame(rows, columns=["run", *COLUMNS])
    whole = [name for name in COLUMNS if name.endswith(("_packets", "_bytes", "_dropped"))]
    return frame.astype(dict.fromkeys(whole, "Int64")).astype({"utilisation": "float64"})


def _captured(facts: pd.DataFrame, run: Run) -> dict[Ends, tuple[int, int]]:
    """(host, neighbour) -> packets and bytes that the host sent, loopback left out."""
    found: dict[Ends, tuple[int, int]] = {}
    neighbours: dict[str, list[str]] = {}
    for link in run.plan.network.links:
        neighbours.setdefault(link.a, []).append(link.b)
        neighbours.setdefault(link.b, []).append(link.a)
    traffic = facts[(facts["fact"] == "traffic") & _own(facts, run)]
    sums = traffic.groupby(["node", "interface"])[["packets", "bytes"]].sum()
    for capture in run.captures:
        near = neighbours.get(capture.node, [])
        if capture.interface in ("lo", "") and len(near) != 1:
            continue
        if capture.interface == "lo":
            continue
        number = _interface_number(capture.interface)
        peer = near[number] if number < len(near) else near[0] if near else ""
        key = (capture.node, capture.interface)
        found[capture.node, peer] = tuple(int(v) for v in sums.loc[key]) if key in sums.index else (0, 0)  # type: ignore[assignment]
    return found


def _own(facts: pd.DataFrame, run: Run) -> pd.Series:
    """Traffic that the capturing host sent; a capture also has what came from hosts without one."""
    addresses = {(capture.node, address) for capture in run.captures for address in capture.addresses}
    senders = [str(source or "").rpartition(":")[0] for source in facts["source"]]
    own = [(node, _number(sender)) in addresses for node, sender in zip(facts["node"], senders, strict=True)]
    return pd.Series(own, index=facts.index, dtype=bool)


def _number(address: str) -> int:
    try:
        return int(IPv4Address(address))
    except ValueError:
        return -1


def _interface_number(interface: str) -> int:
    """Mininet numbers a host's interfaces in the order of its links: h1-eth0, h1-eth1."""
    digits = interface.rpartition("eth")[2]
    return int(digits) if digits.isdigit() else 0


def _counted(ports: pd.DataFrame) -> dict[Ends, tuple[int, int, int]]:
    """Packets, bytes, drops. What a switch sends it counts itself; what a host sends is counted by the switch
    that receives it."""
    grown = (
        ports.assign(**_steps(ports, ["node", "peer"], COUNTERS)).groupby(["node", "peer"])[COUNTERS].sum()
    )
    found = {}
    for (node, peer), row in grown.iterrows():
        found[peer, node] = (int(row["rx_packets"]), int(row["rx_bytes"]), int(row["rx_dropped"]))
    for (node, peer), row in grown.iterrows():
        found[node, peer] = (int(row["tx_packets"]), int(row["tx_bytes"]), int(row["tx_dropped"]))
    return found


def _routed(flows: pd.DataFrame) -> dict[Ends, tuple[int, int]]:
    """Packets and bytes of all flows that left a switch towards a neighbour."""
    steps = flows.assign(**_steps(flows, ["node", "target"], ["packets", "bytes"]))
    sums = steps[steps["peer"] != ""].groupby(["node", "peer"])[["packets", "bytes"]].sum()
    return {ends: (int(row["packets"]), int(row["bytes"])) for ends, row in sums.iterrows()}


def _steps(readings: pd.DataFrame, keys: list[str], counters: list[str]) -> pd.DataFrame:
    """What each counter counted since its last reading; it began at 0 when the network was made, and begins
    again when it is less than it was."""
    ordered = readings.sort_values("t_us", kind="stable")
    steps = ordered.groupby(keys)[counters].diff()
    return steps.where(steps >= 0, ordered[counters])


def _utilisation(counted: int | None, seen: int | None, capacity_bits: float) -> float | None:
    size = counted if counted is not None else seen
    return size * 8 / capacity_bits if size is not None and capacity_bits > 0 else None
