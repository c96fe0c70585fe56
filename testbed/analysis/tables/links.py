"""Traffic of the network's links, from the captures at the hosts and from the controller's port counters."""

from __future__ import annotations

from ipaddress import IPv4Address

import pandas as pd

from testbed.analysis.runs import Run

COLUMNS = {
    "link": "link id of the plan",
    "source": "node that sends",
    "target": "node that receives",
    "pcap_packets": "packets the sending host's capture shows; null = no capture there (switches have none)",
    "pcap_bytes": "their bytes on the wire",
    "counter_packets": "packets by the switch's port counters; null = no counter",
    "counter_bytes": "their bytes",
    "counter_dropped": "packets dropped at the switch's port",
    "utilisation": "bytes (counters, else captures) x 8 / (bandwidth x duration); null = no limit",
}
COUNTERS = ["rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "rx_dropped", "tx_dropped"]


def links(facts: pd.DataFrame, counters: pd.DataFrame, runs: list[Run]) -> pd.DataFrame:
    """`counters`: PortCounter rows of all runs; they only grow, so last minus first counts."""
    rows = []
    for run in runs:
        seen = _captured(facts[facts["run"] == run.key], run)
        counted = _counted(counters[counters["run"] == run.key])
        seconds = (run.manifest.last_us - run.manifest.first_us) / 1e6
        for link in run.plan.network.links:
            for ends in ((link.a, link.b), (link.b, link.a)):
                rows.append(_row(run.key, link.id, ends, seen, counted, link.bandwidth_bps * seconds))
    frame = pd.DataFrame(rows, columns=["run", *COLUMNS])
    whole = ["pcap_packets", "pcap_bytes", "counter_packets", "counter_bytes", "counter_dropped"]
    return frame.astype(dict.fromkeys(whole, "Int64")).astype({"utilisation": "float64"})


def _captured(facts: pd.DataFrame, run: Run) -> dict[tuple[str, str], tuple[int, int]]:
    """(host, neighbour) -> packets and bytes that the host sent, loopback left out."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
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


def _counted(counters: pd.DataFrame) -> dict[tuple[str, str], tuple[int, int, int]]:
    """(sender, receiver) -> packets, bytes, drops. What a switch sends it counts itself; what a host sends is
    counted by the switch that receives it."""
    if not len(counters):
        return {}
    ordered = counters.sort_values("t_us", kind="stable").groupby(["node", "peer"])[COUNTERS]
    grown = (ordered.last() - ordered.first()).where(ordered.size() > 1, ordered.last())
    found = {}
    for (node, peer), row in grown.iterrows():
        found[peer, node] = (int(row["rx_packets"]), int(row["rx_bytes"]), int(row["rx_dropped"]))
    for (node, peer), row in grown.iterrows():
        found[node, peer] = (int(row["tx_packets"]), int(row["tx_bytes"]), int(row["tx_dropped"]))
    return found


def _row(
    run: str,
    link: str,
    ends: tuple[str, str],
    seen: dict[tuple[str, str], tuple[int, int]],
    counted: dict[tuple[str, str], tuple[int, int, int]],
    capacity_bits: float,
) -> tuple[object, ...]:
    pcap = seen.get(ends, (None, None))
    counter = counted.get(ends, (None, None, None))
    size = counter[1] if counter[1] is not None else pcap[1]
    used = size * 8 / capacity_bits if size is not None and capacity_bits > 0 else None
    return (run, link, *ends, *pcap, *counter, used)
