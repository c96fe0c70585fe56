"""What became of every publication: one row per (publication, subscriber) pair and one per publication.

The events of a publication meet in one partition (by its id); there its way through the brokers is put
together for all publications at once, by following parents step by step through arrays. No Spark in here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from protos.purposes import TO_ROOT
from testbed.analysis.evidence.attributes import attributes_of
from testbed.analysis.evidence.interests import Interests, Timeline

KINDS = ("PUBLISHED", "PROCESSED", "FORWARDED", "NOTIFIED", "DELIVERED")
INPUT: tuple[str, ...] = ("run", "kind", "message", "node", "peer", "t_us", "hops", "published_us")
INPUT += ("queueing_us", "matching_us", "sending_us", "content", "group", "leg")
AT = ["message", "node", "leg"]  # a broker may see one on its way to a root, and again on its way down
COLUMNS: dict[str, tuple[pa.DataType, str]] = {
    "run": (pa.string(), "run"),
    "row": (pa.string(), "pair, lost (expected, not demanded, and never delivered) or publication"),
    "publication": (pa.string(), "publication id"),
    "publisher": (pa.string(), "client that published"),
    "subscriber": (pa.string(), "client that received, or should have"),
    "group": (pa.string(), "subscriber class"),
    "broker": (pa.string(), "broker that notified the subscriber"),
    "first_broker": (pa.string(), "publisher's broker"),
    "published_us": (pa.int64(), "run clock, us"),
    "delivered_us": (pa.int64(), "run clock, us; first copy"),
    "delay_us": (pa.int64(), "delivered - published, us"),
    "copies": (pa.int64(), "times delivered"),
    "settled": (pa.bool_(), "whether the delivery can be demanded"),
    "outcome": (pa.string(), "delivered, missing, duplicate or phantom"),
    "overlay_hops": (pa.int64(), "overlay links crossed, as the message counted them"),
    "network_hops": (pa.int64(), "network links crossed on the planned routes between the hosts on the way"),
    "direct_us": (pa.float64(), "planned shortest-path delay from publisher's to subscriber's host, us"),
    "propagation_us": (pa.float64(), "planned delay of the way taken, us"),
    "processing_us": (pa.float64(), "matching at the brokers on the way, us"),
    "queueing_us": (pa.float64(), "input and output queues of the brokers on the way, us"),
    "rest_us": (pa.float64(), "delay - propagation - processing - queueing, us"),
    "early_us": (pa.int64(), "largest time by which an event precedes its cause, us; 0 = none"),
    "expected": (pa.bool_(), "the subscriber had asked for it, whatever happened on the way"),
    "late": (pa.bool_(), "it took longer than anything that no fault held up, twice over"),
    "fault": (pa.int64(), "number of the fault in whose window it was under way; -1 = none"),
    "begun": (pa.int64(), "number of the latest fault that had begun; -1 = none"),
    "cause": (pa.string(), "of its loss or lateness; empty for neither"),
    "deliveries": (pa.int64(), "publication: pairs delivered"),
    "brokers": (pa.int64(), "publication: brokers that processed it"),
    "relays": (pa.int64(), "publication: of these, neither first broker nor notifying anyone"),
    "relays_to_root": (pa.int64(), "publication: brokers that only carried it towards the root of a tree"),
    "relays_in_tree": (pa.int64(), "publication: brokers that got it from a parent and notified nobody"),
}
PARTS = ("relays_to_root", "relays_in_tree")
OF_FAULTS = ("expected", "late", "fault", "begun", "cause")  # for the tables of losses only
SCHEMA = pa.schema([(name, kind) for name, (kind, _) in COLUMNS.items()])
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Pair = tuple[str, str]  # publication, subscriber


@dataclass(frozen=True)
class World:
    """What a run's plan and rare events say, small enough to be sent to every task."""

    hosts: dict[str, int]  # broker or client -> row in the matrices
    latency_us: Floats
    links: Floats
    timeline: Timeline
    whole: bool = True  # False: publications are counted, and few of them can be followed
    rooted: bool = False  # publications go to the root of a tree first

    def between(self, a: pd.Series, b: pd.Series) -> tuple[Floats, Floats]:
        """Planned delay and network links from each of `a` to each of `b`; NaN when unknown."""
        i, j = (names.map(self.hosts).fillna(-1).to_numpy(np.int64) for names in (a, b))
        known = (i >= 0) & (j >= 0)
        pick = np.where(known, i, 0), np.where(known, j, 0)
        if not self.latency_us.size:
            return np.full(len(i), np.nan), np.full(len(i), np.nan)
        return np.where(known, self.latency_us[pick], np.nan), np.where(known, self.links[pick], np.nan)


def journeys(worlds: dict[str, World], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For `mapInArrow`: all events of a partition in, its pairs and publications out."""
    listed = list(batches)
    if not listed:
        return
    events = pa.Table.from_batches(listed).to_pandas()
    for run, own in events.groupby("run", sort=True):
        frame = run_journeys(own.reset_index(drop=True), worlds[str(run)])
        frame["run"] = str(run)
        yield from (
            pa.Table.from_pandas(frame.reindex(columns=SCHEMA.names), schema=SCHEMA, preserve_index=False)
            .combine_chunks()
            .to_batches()
        )


def run_journeys(events: pd.DataFrame, world: World) -> pd.DataFrame:
    """Pairs and publications of one run (or of some of its publications)."""
    by_kind = {kind: events[events["kind"] == kind] for kind in KINDS}
    ways = _ways(by_kind, world)
    pairs = _pairs(by_kind, ways, world)
    pairs = _with_outcomes(pairs, by_kind["PUBLISHED"], world)
    return pd.concat([pairs, _publications(by_kind, ways, pairs, world)], ignore_index=True)


def _ways(by_kind: dict[str, pd.DataFrame], world: World) -> pd.DataFrame:
    """One row per (publication, broker, leg) it reached: sums over the way from the first broker to it."""
    processed = by_kind["PROCESSED"].sort_values(["t_us"], kind="stable").drop_duplicates(AT)
    forwarded = by_kind["FORWARDED"].sort_values(["t_us"], kind="stable")
    keep = _with_parents(processed, forwarded)
    edges = forwarded.drop_duplicates([*AT, "peer"])[[*AT, "peer", "sending_us"]]
    edges = edges.rename(columns={"node": "parent", "peer": "node"})
    ways = keep.merge(edges, on=[*AT, "parent"], how="left").reset_index(drop=True)
    position = pd.Series(ways.index, index=pd.MultiIndex.from_frame(ways[AT]))
    parent = _parents(ways, position)
    delay, links = world.between(ways["parent"].fillna(""), ways["node"])
    linked = parent >= 0
    own = {
        "propagation_us": np.where(linked, delay, 0.0),
        "network_hops": np.where(linked, links, 0.0),
        "processing_us": ways["matching_us"].to_numpy(np.float64),
        "queueing_us": ways["queueing_us"].to_numpy(np.float64)
        + np.where(linked, ways["sending_us"].fillna(0), 0.0),
    }
    sums, root = _accumulate(own, parent)
    times = ways["t_us"].to_numpy(np.int64)
    early = np.where(linked, times[np.maximum(parent, 0)] - times, 0)
    return ways[[*AT, "t_us"]].assign(
        **sums, first_broker=ways["node"].to_numpy()[root], early_us=early, linked=linked
    )


def _with_parents(processed: pd.DataFrame, forwarded: pd.DataFrame) -> pd.DataFrame:
    """Adds whom the copy came from: as the broker logged it, else whoever forwarded one to it first.

    On an overlay with cycles a broker gets several copies; only the log knows which came first.
    """
    first = forwarded.drop_duplicates(["message", "peer", "leg"])[[*AT, "peer"]]
    first = first.rename(columns={"node": "forwarder", "peer": "node"})
    keep = processed[[*AT, "peer", "t_us", "queueing_us", "matching_us"]]
    keep = keep.merge(first, on=AT, how="left")
    logged = keep["peer"].fillna("")
    return keep.assign(parent=logged.where(logged != "", keep["forwarder"])).drop(
        columns=["peer", "forwarder"]
    )


def _parents(ways: pd.DataFrame, position: pd.Series) -> Ints:
    """The row from which each was sent: of the same leg, or, at the root, of that where the way down begins.
    The way to a further tree begins at the topic's own root."""
    if not len(ways):
        return np.zeros(0, np.int64)
    leg = ways["leg"]
    found = _rows(ways, position, leg)
    if leg.any():
        for earlier, of in (
            (leg | TO_ROOT, leg != TO_ROOT),
            (leg * 0 + TO_ROOT, leg > TO_ROOT),
            (leg * 0, leg > TO_ROOT),
        ):
            found = np.where((found < 0) & of, _rows(ways, position, earlier), found)
    return found


def _rows(ways: pd.DataFrame, position: pd.Series, leg: pd.Series) -> Ints:
    wanted = pd.MultiIndex.from_arrays([ways["message"], ways["parent"].fillna(""), leg])
    found: Ints = position.reindex(wanted).fillna(-1).to_numpy(np.int64)
    return found


def _accumulate(own: dict[str, Floats], parent: Ints) -> tuple[dict[str, Floats], Ints]:
    """Sums from each row to its root, and the root. A circle of parents (never in a tree) is cut."""
    sums = {name: values.copy() for name, values in own.items()}
    at = np.arange(len(parent))
    root = at.copy()
    for _ in range(len(parent)):
        at = np.where(at >= 0, parent[np.maximum(at, 0)], -1)
        moving = at >= 0
        if not moving.any() or (at[moving] == np.flatnonzero(moving)).any():
            break
        root[moving] = at[moving]
        for name, values in own.items():
            sums[name][moving] += values[at[moving]]
    return sums, root


def _pairs(by_kind: dict[str, pd.DataFrame], ways: pd.DataFrame, world: World) -> pd.DataFrame:
    """One row per (publication, client) that was delivered at least once, with its delay budget."""
    delivered = by_kind["DELIVERED"].sort_values(["t_us"], kind="stable")
    copies = delivered.groupby(["message", "node"], sort=False).size().rename("copies").reset_index()
    first = delivered.drop_duplicates(["message", "node"])[
        ["message", "node", "t_us", "hops", "published_us", "group"]
    ]
    pairs = first.merge(copies, on=["message", "node"]).rename(
        columns={"node": "subscriber", "t_us": "delivered_us"}
    )
    published = by_kind["PUBLISHED"].drop_duplicates("message")
    published = published[["message", "node", "t_us"]].rename(
        columns={"node": "publisher", "t_us": "given_us"}
    )
    pairs = pairs.merge(published, on="message", how="left")
    given = pairs["given_us"].fillna(0).to_numpy(np.int64)
    pairs["published_us"] = np.where(pairs["published_us"] > 0, pairs["published_us"], given)
    ways = ways.assign(tree=ways["leg"] | TO_ROOT)
    return _budget(pairs, by_kind["NOTIFIED"], _downward(ways, ("tree",)), world)


def _downward(ways: pd.DataFrame, among: tuple[str, ...] = ()) -> pd.DataFrame:
    """One row per (publication, broker): clients are notified of what comes down a tree, and that goes before
    what is on its way to a root."""
    order = ways.assign(up=ways["leg"] % 2).sort_values(["up", "leg"], kind="stable")
    return order.drop(columns="up").drop_duplicates(["message", "node", *among])


def _budget(pairs: pd.DataFrame, notified: pd.DataFrame, ways: pd.DataFrame, world: World) -> pd.DataFrame:
    last = notified.sort_values(["t_us"], kind="stable").drop_duplicates(["message", "peer"])
    last = last[["message", "node", "peer", "sending_us", "t_us", "leg"]]
    last = last.assign(tree=last.pop("leg").fillna(0).astype(np.int64) | TO_ROOT)
    last = last.rename(columns={"node": "broker", "peer": "subscriber", "t_us": "notified_us"})
    pairs = pairs.merge(last, on=["message", "subscriber"], how="left")
    way = ways.drop(columns=["leg", "linked"]).rename(columns={"node": "broker", "t_us": "processed_us"})
    pairs = pairs.merge(way, on=["message", "broker", "tree"], how="left").drop(columns="tree")
    publisher, subscriber = pairs["publisher"].fillna(""), pairs["subscriber"]
    up, up_links = world.between(publisher, pairs["first_broker"].fillna(""))
    down, down_links = world.between(pairs["broker"].fillna(""), subscriber)
    pairs["direct_us"], _ = world.between(publisher, subscriber)
    pairs["delay_us"] = pairs["delivered_us"] - pairs["published_us"]
    pairs["propagation_us"] = pairs["propagation_us"] + up + down
    pairs["network_hops"] = (pairs["network_hops"] + up_links + down_links).astype("Int64")
    pairs["queueing_us"] = pairs["queueing_us"] + pairs["sending_us"]
    spent = pairs["propagation_us"] + pairs["processing_us"] + pairs["queueing_us"]
    pairs["rest_us"] = pairs["delay_us"] - spent
    pairs["early_us"] = _early(pairs)
    return pairs.rename(columns={"message": "publication", "hops": "overlay_hops"})


def _early(pairs: pd.DataFrame) -> pd.Series:
    """How far the worst event of the delivery precedes its cause; a delivery nobody published counts too."""
    late = pd.concat(
        [
            pairs["published_us"] - pairs["delivered_us"],
            pairs["published_us"] - pairs["processed_us"],
            pairs["processed_us"] - pairs["delivered_us"],
            pairs["early_us"],
        ],
        axis=1,
    )
    return late.max(axis=1).clip(lower=0).fillna(0).astype("int64")


def _with_outcomes(pairs: pd.DataFrame, published: pd.DataFrame, world: World) -> pd.DataFrame:
    """Adds outcome and settled, and a row for every delivery that was expected and never came."""
    interests = Interests.of(world.timeline.interests)
    wanted, expected, settled = _demands(published, interests, world.timeline)
    keys = list(zip(pairs["publication"], pairs["subscriber"], strict=True))
    readable = {
        message
        for message, content in zip(published["message"], published["content"], strict=True)
        if content
    }
    pairs["settled"] = [key in settled for key in keys]
    outcome = np.where(pairs["copies"] > 1, "duplicate", "delivered").astype(object)
    for number, key in enumerate(keys):
        if key not in wanted and key[0] in readable and not interests.unreadable:
            outcome[number] = "phantom"
    pairs["outcome"] = outcome
    missing = _missing(expected, settled, set(keys), published)
    together = pd.concat([pairs.assign(row="pair"), missing], ignore_index=True)
    names = zip(together["publication"], together["subscriber"], strict=True)
    together["expected"] = [key in expected for key in names]
    return _with_faults(together, world.timeline)


def _with_faults(pairs: pd.DataFrame, timeline: Timeline) -> pd.DataFrame:
    """Adds to every expected pair in which fault it was under way, and why it is lost or late."""
    course, flight = timeline.course, timeline.flight_us
    published = pairs["published_us"].fillna(0).to_numpy(np.int64)
    came = pairs["copies"].to_numpy(np.int64) > 0
    until = np.where(came, pairs["delivered_us"].fillna(0).to_numpy(np.int64), published + flight)
    late = came & (until - published > flight)
    cause = np.full(len(pairs), "", dtype=object)
    for at in np.flatnonzero((late | ~came) & pairs["expected"].to_numpy(bool)):
        publisher, subscriber = str(pairs["publisher"].iat[at]), str(pairs["subscriber"].iat[at])
        cause[at] = course.cause(publisher, subscriber, int(published[at]), int(until[at]))
    fault, begun = course.windows(published, until), course.begun(until)
    return pairs.assign(late=late, fault=fault, begun=begun, cause=cause)


def _demands(
    published: pd.DataFrame, interests: Interests, timeline: Timeline
) -> tuple[set[Pair], dict[Pair, str], dict[Pair, str]]:
    """Pairs in which the client is interested at all; those of them that should be delivered -> class; and
    those of them that must be, as nothing excuses their loss."""
    wanted: set[Pair] = set()
    expected: dict[Pair, str] = {}
    settled: dict[Pair, str] = {}
    columns = ("message", "node", "published_us", "t_us", "content")
    for message, publisher, given, t_us, content in zip(*(published[name] for name in columns), strict=True):
        at = given or t_us
        attributes = attributes_of(content) if content else None
        for interest in interests.matching(attributes) if attributes is not None else ():
            pair = (message, interest.client)
            wanted.add(pair)
            if not timeline.lasting(interest, at) or not timeline.decided(at):
                continue
            expected[pair] = interest.group
            if interest.settled_us <= at and timeline.quiet(interest.client, at, publisher):
                settled[pair] = interest.group
    return wanted, expected, settled


def _missing(
    expected: dict[Pair, str], settled: dict[Pair, str], seen: set[Pair], published: pd.DataFrame
) -> pd.DataFrame:
    lost = [(*pair, group, pair in settled) for pair, group in expected.items() if pair not in seen]
    frame = pd.DataFrame(lost, columns=["publication", "subscriber", "group", "settled"], dtype=object)
    about = published.drop_duplicates("message")[["message", "node", "t_us"]]
    about = about.rename(columns={"message": "publication", "node": "publisher", "t_us": "published_us"})
    row = np.where(frame["settled"].astype(bool), "pair", "lost")
    return frame.assign(row=row, outcome="missing", copies=0, early_us=0).merge(
        about, on="publication", how="left"
    )


def _publications(
    by_kind: dict[str, pd.DataFrame], ways: pd.DataFrame, pairs: pd.DataFrame, world: World
) -> pd.DataFrame:
    """One row per publication: how many brokers handled it, and how many of them for nobody of their own;
    both null where the brokers only counted it."""
    published = by_kind["PUBLISHED"].drop_duplicates("message")
    served = by_kind["NOTIFIED"][["message", "node"]].drop_duplicates().assign(served=True)
    handled = _downward(ways).merge(served, on=["message", "node"], how="left")
    idle = handled["served"].isna() & (handled["node"] != handled["first_broker"])
    counts = (
        handled.assign(relays=idle).groupby("message").agg(brokers=("node", "size"), relays=("relays", "sum"))
    )
    if world.rooted:
        counts = counts.join(_relays_by_leg(handled, by_kind["FORWARDED"]))
    got = pairs[pairs["copies"] > 0].groupby("publication").size().rename("deliveries")
    out = published[["message", "node", "t_us", "published_us"]].set_index("message").join(counts).join(got)
    given = out["published_us"].where(out["published_us"] > 0, out["t_us"])
    out = out.assign(row="publication", publisher=out["node"], published_us=given)
    numbers = ["brokers", "relays", *(PARTS if world.rooted else ()), "deliveries"]
    known = numbers if world.whole else ["deliveries"]
    out = out.fillna(dict.fromkeys(known, 0)).astype(dict.fromkeys(numbers, "Int64"))
    out.index.name = "publication"
    return out.reset_index()[["publication", "row", "publisher", "published_us", *numbers]]


def _relays_by_leg(handled: pd.DataFrame, forwarded: pd.DataFrame) -> pd.DataFrame:
    """`handled`: a row per (publication, broker). Who sends down what came up is the root."""
    down = forwarded[forwarded["leg"] % 2 == 0][["message", "node"]].drop_duplicates().assign(down=True)
    rows = handled.merge(down, on=["message", "node"], how="left")
    idle, upward = rows["served"].isna(), rows["leg"] % 2 == TO_ROOT
    carried = idle & upward & rows["down"].isna() & (rows["node"] != rows["first_broker"])
    parts = rows.assign(relays_to_root=carried, relays_in_tree=idle & ~upward & rows["linked"])
    return parts.groupby("message")[list(PARTS)].sum()
