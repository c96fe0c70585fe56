"""The captures' view: who sent how many messages of which type to whom, and what they cost in bytes."""

from __future__ import annotations

import pandas as pd

from testbed.analysis.evidence.runs import Run
from testbed.analysis.tables.counted import Types, is_counted

COLUMNS = {
    "source": "broker or client that sent; its host when the messages cannot be read (TLS)",
    "target": "broker or client that received",
    "link": "overlay (broker to broker), client, or other",
    "state": "whole: every message was counted; otherwise why not: gap (packets missing), snap_length, tls, "
    "not_h2 (capture began in mid-connection), broken",
    "messages": "gRPC messages; null unless whole",
    "message_bytes": "encoded Envelopes, bytes",
    "framing_bytes": "HTTP/2 and gRPC framing, bytes (window updates, pings and headers included)",
    "header_bytes": "Ethernet, IP and TCP headers of packets with payload or control flags, bytes",
    "ack_bytes": "bare TCP acknowledgements, bytes",
    "retransmitted_bytes": "TCP payload seen again, bytes",
    "out_of_order": "TCP segments seen after a later one",
    "gaps": "places where TCP payload is missing from the captures",
    "lost_bytes": "TCP payload missing there, bytes",
    "wire_bytes": "all bytes of the direction on the wire",
    "packets": "all packets of the direction",
    "connections": "TCP connections",
}
OVERLAY, CLIENT = "/testbed.broker.Overlay/", "/testbed.broker.PubSub/"
COUNTS = ["messages", "bytes", "late"]
KEY = ["run", "source", "target", "connection", "stream"]


def identify(facts: pd.DataFrame, runs: list[Run]) -> pd.DataFrame:
    """One row per gRPC call and direction: sender, receiver and kind of link, from the hellos, the method and
    the plan's addresses."""
    streams = facts[facts["fact"] == "stream"][[*KEY, "path", "hello"]].drop_duplicates(KEY)
    back = streams.rename(
        columns={"source": "target", "target": "source", "path": "back_path", "hello": "back_hello"}
    )
    both = streams.merge(back, on=KEY, how="outer")
    brokers = {(run.key, address): broker for run in runs for address, broker in run.endpoints.items()}
    path = both["path"].fillna(both["back_path"]).fillna("")
    link = pd.Series("other", index=both.index)
    link[path.str.startswith(OVERLAY)] = "overlay"
    link[path.str.startswith(CLIENT)] = "client"
    sender = both["hello"].fillna(_listed(both, "source", brokers)).fillna(both["source"])
    receiver = both["back_hello"].fillna(_listed(both, "target", brokers)).fillna(both["target"])
    return both[KEY].assign(sender=sender, receiver=receiver, link=link)


def _listed(frame: pd.DataFrame, end: str, brokers: dict[tuple[str, str], str]) -> pd.Series:
    keys = zip(frame["run"], frame[end], strict=True)
    return pd.Series([brokers.get(key) for key in keys], index=frame.index, dtype=object)


def _hosts(frame: pd.DataFrame, end: str, runs: list[Run]) -> pd.Series:
    """The host at the address, when messages cannot tell who speaks (TLS)."""
    nodes = {
        (run.key, node.address): node.id for run in runs for node in run.plan.network.nodes if node.address
    }
    addresses = [str(text).rpartition(":")[0] for text in frame[end]]
    found = [nodes.get(key) for key in zip(frame["run"], addresses, strict=True)]
    return pd.Series(found, index=frame.index, dtype=object)


def wire_counts(facts: pd.DataFrame, calls: pd.DataFrame, counted: Types) -> pd.DataFrame:
    """run, sender, receiver, link, type, leg -> messages and bytes until the run's end, and messages after
    it. Of a type that the run's logs count no message is late, as in the logs."""
    counts = facts[facts["fact"] == "count"][[*KEY, "type", "leg", "state", "messages", "bytes"]]
    named = counts.merge(calls, on=KEY, how="left").dropna(subset=["sender"])
    late = (named["state"] == "late") & ~is_counted(named, counted)
    named["late"] = named["messages"].where(late, 0)
    named[["messages", "bytes"]] = named[["messages", "bytes"]].mask(late, 0)
    sums = named.groupby(["run", "sender", "receiver", "link", "type", "leg"], as_index=False)[COUNTS].sum()
    return sums.astype(dict.fromkeys(COUNTS, "int64"))


def wire(facts: pd.DataFrame, calls: pd.DataFrame, runs: list[Run]) -> pd.DataFrame:
    """One row per run, sender, receiver and kind of link. A connection belongs to the call it carries."""
    half = KEY[:4]
    connections = facts[facts["fact"] == "connection"]
    first = calls.sort_values("stream").drop_duplicates(half)
    named = connections.merge(first, on=half, how="left")
    messages = facts[facts["fact"] == "count"].groupby(half, as_index=False)["messages"].sum()
    named = named.drop(columns="messages").merge(messages, on=half, how="left")
    named = _with_traffic(named, facts)
    brokers = {(run.key, address): broker for run in runs for address, broker in run.endpoints.items()}
    for who, end in (("sender", "source"), ("receiver", "target")):
        known = named[who].fillna(_listed(named, end, brokers)).fillna(_hosts(named, end, runs))
        named[who] = known.fillna(named[end])
    named["link"] = named["link"].fillna("other")
    return _summed(named)


def _with_traffic(named: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """Packet sums are per pair of ports; give them to the first connection that used the ports."""
    flow = ["run", "source", "target"]
    sums = ["packets", "wire_bytes", "header_bytes", "ack_bytes"]
    traffic = facts[(facts["fact"] == "traffic") & (facts["protocol"] == "tcp")]
    traffic = traffic.rename(columns={"bytes": "wire_bytes"})
    traffic = traffic.groupby(flow, as_index=False)[sums].sum()
    drop = [name for name in sums if name in named]
    merged = named.drop(columns=drop).merge(traffic, on=flow, how="left")
    later = merged["connection"] > merged.groupby(flow)["connection"].transform("min")
    merged.loc[later, sums] = 0
    return merged


def _summed(named: pd.DataFrame) -> pd.DataFrame:
    if not len(named):
        return pd.DataFrame(columns=["run", *COLUMNS])
    keys = ["run", "sender", "receiver", "link"]
    sums = ["messages", "bytes", "framing_bytes", "header_bytes", "ack_bytes", "retransmitted_bytes"]
    grouped = named.groupby(keys, as_index=False)
    counts = ["out_of_order", "gaps", "lost_bytes", "wire_bytes", "packets"]
    out = grouped[[*sums, *counts]].sum()
    out["connections"] = grouped.size()["size"]
    out["state"] = grouped["state"].agg(_worst)["state"]
    out["messages"] = out["messages"].where(out["state"] == "whole").astype("Int64")
    out = out.rename(columns={"sender": "source", "receiver": "target", "bytes": "message_bytes"})
    out = out.astype(dict.fromkeys(("message_bytes", *sums[2:], *counts, "connections"), "int64"))
    return out[["run", *COLUMNS]]


def _worst(states: pd.Series) -> str:
    bad = sorted(set(states) - {"whole"})
    return bad[0] if bad else "whole"
