"""The tables load, links, losses and fidelity worked out anew with lists and loops, and dpkt for packets.

Shares nothing with `testbed.analysis` but the definitions in docs/tables.md: no Spark, no pandas, not its
subscription language, not its packet reader. Good for small runs without faults.
"""

from __future__ import annotations

import json
import math
import re
import socket
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import dpkt

Row = dict[str, Any]
WINDOW_US = 10_000_000


def lines(run: Path, pattern: str) -> list[Row]:
    return [json.loads(line) for file in sorted(run.glob(pattern)) for line in file.open("rb")]


def plan(run: Path) -> Row:
    return dict(json.loads((run / "plan.json").read_bytes()))


def load(run: Path) -> dict[tuple[str, int], Row]:
    """By broker and start of the window."""
    events = lines(run, "events/*.jsonl")
    brokers = {broker["id"] for broker in plan(run)["brokers"]}
    start = min(e["t_us"] for e in events)
    groups: dict[tuple[str, int], list[Row]] = {}
    for e in events:
        if e["node"] in brokers:
            window = (e["t_us"] - start) // WINDOW_US * WINDOW_US // 1_000_000
            groups.setdefault((e["node"], window), []).append(e)
    return {key: _load_row(own) for key, own in groups.items()}


def _load_row(events: list[Row]) -> Row:
    count = Counter(e["kind"] for e in events)
    samples = [e for e in events if e["kind"] == "SAMPLED"]
    processed = [e for e in events if e["kind"] == "PROCESSED"]

    def mean(rows: list[Row], name: str) -> float | None:
        return statistics.fmean(row.get(name, 0) for row in rows) if rows else None

    def most(name: str) -> int | None:
        return max((row.get(name, 0) for row in samples), default=None)

    return {
        "received_per_s": (count["PROCESSED"] + count["RECEIVED"]) / 10,
        "sent_per_s": (count["FORWARDED"] + count["NOTIFIED"] + count["SENT"]) / 10,
        "publications_per_s": count["PROCESSED"] / 10,
        "matching_us": mean(processed, "matching_us"),
        "queueing_us": mean(processed, "queueing_us"),
        "input_utilisation": mean(samples, "input_utilisation"),
        "output_utilisation": mean(samples, "output_utilisation"),
        "queue_mean": mean(samples, "queue"),
        "queue_max": most("queue"),
        "memory_bytes": most("memory_bytes"),
        "dropped": count["DROPPED"],
    }


def links(run: Path) -> dict[tuple[str, str], Row]:
    """By sender and receiver. For hosts with one link each, and routes that never change."""
    network, manifest = plan(run)["network"], json.loads((run / "manifest.json").read_bytes())
    switches = {node["id"] for node in network["nodes"] if node.get("kind") == "switch"}
    last = {(p["node"], p["peer"]): p for p in lines(run, "controller/ports.jsonl")}
    flows = {(f["node"], f["peer"], f["target"]): f for f in lines(run, "controller/flows.jsonl")}
    captured = {c["node"]: _sent(run / c["file"], _address(network, c["node"])) for c in manifest["captures"]}
    seconds = (manifest["last_us"] - manifest["first_us"]) / 1e6
    out = {}
    for link in network["links"]:
        for a, b in ((link["a"], link["b"]), (link["b"], link["a"])):
            port, way = (last[a, b], "tx") if a in switches else (last[b, a], "rx")
            led = [f for (node, peer, _), f in flows.items() if (node, peer) == (a, b)]
            size = port.get(f"{way}_bytes", 0)
            out[a, b] = {
                "pcap_packets": captured[a][0] if a in captured else None,
                "pcap_bytes": captured[a][1] if a in captured else None,
                "counter_packets": port.get(f"{way}_packets", 0),
                "counter_bytes": size,
                "counter_dropped": port.get(f"{way}_dropped", 0),
                "flow_packets": sum(f.get("packets", 0) for f in led) if a in switches else None,
                "flow_bytes": sum(f.get("bytes", 0) for f in led) if a in switches else None,
                "utilisation": size * 8 / (link["bandwidth_bps"] * seconds),
            }
    return out


def _address(network: Row, node: str) -> bytes:
    found = next(n["address"] for n in network["nodes"] if n["id"] == node)
    return socket.inet_aton(found.partition("/")[0])


def _sent(pcap: Path, address: bytes) -> tuple[int, int]:
    """Packets and bytes in a capture that a host sent itself."""
    with pcap.open("rb") as file:
        frames = [frame for _, frame in dpkt.pcap.Reader(file)]
    packets = [(frame, dpkt.ethernet.Ethernet(frame).data) for frame in frames]
    own = [frame for frame, ip in packets if isinstance(ip, dpkt.ip.IP) and ip.src == address]
    return len(own), sum(len(frame) for frame in own)


def losses(run: Path) -> dict[tuple[str, bool], Row]:
    """By outcome and whether the delivery could be demanded. For runs in which clients stay to the end."""
    events = lines(run, "events/*.jsonl")
    gates = {phase["name"] for phase in plan(run)["phases"] if phase["gate"].get("subscriptions_settled")}
    ready = min(e["t_us"] for e in events if e["kind"] == "PHASE_READY" and e["detail"] in gates)
    end = next(e["t_us"] for e in events if e["kind"] == "RUN_ENDED")
    delivered = [e for e in events if e["kind"] == "DELIVERED"]
    flight = max(1_000_000, 2 * max(e["t_us"] - e["published_us"] for e in delivered))
    copies = Counter((e["message"], e["node"]) for e in delivered)
    published = {e["message"]: e for e in events if e["kind"] == "PUBLISHED"}
    wanted = {
        (message, s["node"])
        for s in events
        if s["kind"] == "SUBSCRIBED"
        for message, e in published.items()
        if _matches(s["content"], e["content"])
    }
    out: dict[tuple[str, bool], Row] = {}
    for pair in sorted(wanted | set(copies)):
        at = published[pair[0]]["published_us"]
        settled = pair in wanted and ready <= at and at + flight < end
        if not copies[pair] and not settled:
            continue
        outcome = "missing" if not copies[pair] else "phantom" if pair not in wanted else "delivered"
        outcome = "duplicate" if copies[pair] > 1 and outcome == "delivered" else outcome
        row = out.setdefault((outcome, settled), {"pairs": 0, "copies": 0, "example": " to ".join(pair)})
        row["pairs"] += 1
        row["copies"] += copies[pair]
    return out


def _matches(subscription: str, publication: str) -> bool:
    values = {name: _value(text) for name, text in re.findall(r"\[([^,]+),([^\]]+)\]", publication)}
    for name, operator, text in re.findall(r"\[([^,]+),([^,]+),([^\]]+)\]", subscription):
        value, limit = values.get(name), _value(text)
        if value is None or type(value) is not type(limit):
            return False
        if not {"eq": value == limit, ">": value > limit}[operator]:  # type: ignore[operator]
            return False
    return True


def _value(text: str) -> str | float:
    return text.strip("'") if text.startswith("'") else float(text)


def fidelity(run: Path) -> dict[tuple[str, str], Row]:
    """By source and target."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for probe in lines(run, "probes/*.jsonl"):
        for key in ((probe["source"], probe["target"]), ("all", "all")):
            groups.setdefault(key, []).append(probe)
    out = {}
    for key, probes in groups.items():
        answered = [p for p in probes if p.get("measured_us", 0) >= 0]
        errors = sorted(abs(p["measured_us"] - p["planned_us"]) for p in answered)
        out[key] = {
            "probes": len(probes),
            "lost": len(probes) - len(answered),
            "planned_us": statistics.fmean(p["planned_us"] for p in probes),
            "measured_p50_us": statistics.median(p["measured_us"] for p in answered),
            "error_p50_us": statistics.median(errors),
            "error_p95_us": percentile(errors, 0.95),
            "error_p99_us": percentile(errors, 0.99),
            "error_max_us": errors[-1],
        }
    return out


def percentile(ordered: list[float], share: float) -> float:
    """Linear between the two nearest ranks."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
