"""Tables of a run that goes on, from its event logs: what the page can show before Spark has seen anything.

Every number here is the one that `testbed analyze` finds in the same logs; what it cannot know without the
plan's routes or the captures (stretch, missing deliveries, the wire, the checks) is left out. Logs are read
file by file, so events come in no order of time: what depends on the order is worked out in `tables`.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas

from protos.purposes import UNKNOWN, is_data, purpose_of
from protos.records import LogEvent
from testbed.run.folder import RunFolder
from testbed.topology.plan import Plan

WINDOW_US = 10_000_000
LEAD_US = 5_000  # windows of the table `delay` begin before the first publication
GOT = ("RECEIVED", "PROCESSED")
QUANTILES = {"p50_us": 0.5, "p90_us": 0.9, "p95_us": 0.95, "p99_us": 0.99}
ORDER = {"data": 0, "control": 1, "all": 2}
Ints = npt.NDArray[np.int64]


class Numbers(dict[str, int]):
    """Names by number: a name is kept once, however often it comes."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


def column() -> array[int]:
    """Eight bytes for each event, since a long run has many of them."""
    return array("q")


@dataclass
class Sent:
    """Messages of one type on one kind of link."""

    times: array[int] = field(default_factory=column)
    sizes: array[int] = field(default_factory=column)


@dataclass
class LiveTables:
    brokers: frozenset[str]
    purposes: Mapping[str, str]  # by message type
    counted: frozenset[str] = frozenset()  # types that the logs count, also while the brokers stop
    first_us: int = 0
    last_us: int = 0
    ended_us: int = 0  # of the run; what is sent later belongs to its stopping
    copies: int = 0  # deliveries, second copies too
    faults: list[LogEvent] = field(default_factory=list)
    _names: Numbers = field(default_factory=Numbers)
    _messages: Numbers = field(default_factory=Numbers)
    _published: dict[int, tuple[int, int]] = field(default_factory=dict)  # message -> publisher, when
    _notified: dict[tuple[int, int], int] = field(default_factory=dict)  # message, client -> broker
    _seen: set[tuple[int, int]] = field(default_factory=set)
    _deliveries: tuple[array[int], ...] = field(default_factory=lambda: tuple(column() for _ in range(6)))
    _received: dict[str, array[int]] = field(default_factory=lambda: defaultdict(column))
    _other: dict[str, array[int]] = field(default_factory=lambda: defaultdict(column))
    _sent: dict[tuple[str, str, int], Sent] = field(default_factory=lambda: defaultdict(Sent))

    def take(self, event: LogEvent) -> None:
        at, kind = event.t_us, event.kind
        if at > 0:
            self.first_us = min(self.first_us or at, at)
            self.last_us = max(self.last_us, at)
        if kind == "COUNTED":
            return self._take_count(event)
        if event.node in self.brokers:
            (self._received if kind in GOT else self._other)[event.node].append(at)
        if kind == "DELIVERED":
            self._take_delivery(event)
        elif kind in ("FORWARDED", "NOTIFIED", "SENT"):
            self._take_sent(event)
        elif kind == "PUBLISHED":
            self._published.setdefault(self._messages[event.message], (self._names[event.node], at))
        elif kind in ("FAULT_STARTED", "FAULT_ENDED"):
            self.faults.append(event)
        elif kind == "RUN_ENDED":
            self.ended_us = at

    def _take_delivery(self, event: LogEvent) -> None:
        self.copies += 1
        pair = self._messages[event.message], self._names[event.node]
        if pair in self._seen:
            return
        self._seen.add(pair)
        row = (*pair, event.t_us, event.published_us, event.hops, self._names[event.group])
        for values, value in zip(self._deliveries, row, strict=True):
            values.append(value)

    def _take_sent(self, event: LogEvent) -> None:
        link = "overlay" if event.peer in self.brokers else "client"
        sent = self._sent[link, event.type, event.leg]
        sent.times.append(event.t_us)
        sent.sizes.append(event.bytes)
        if event.kind == "NOTIFIED":
            pair = self._messages[event.message], self._names[event.peer]
            self._notified.setdefault(pair, self._names[event.node])

    def _take_count(self, event: LogEvent) -> None:
        """As if each had been told at the time of the last; sizes add up to the sum."""
        kind, each = event.detail, event.bytes // max(1, event.count)
        (self._received if kind in GOT else self._other)[event.node].extend([event.t_us] * event.count)
        if kind in ("FORWARDED", "NOTIFIED", "SENT"):
            sent = self._sent[event.group, event.type, event.leg]
            sent.times.extend([event.t_us] * event.count)
            sent.sizes.extend([each] * (event.count - 1) + [event.bytes - each * (event.count - 1)])

    def tables(self) -> dict[str, pandas.DataFrame]:
        got = self._delivered()
        return {
            "deliveries": got,
            "delay": delay_table(got, min((at for _, at in self._published.values()), default=0)),
            "hop_distribution": hop_table(got),
            "load": load_table(self._received, self._other, self.first_us),
            "overhead": overhead_table(self._counts(), self.copies, self.purposes),
        }

    def _delivered(self) -> pandas.DataFrame:
        names = np.array([*self._names, "?", None], dtype=object)
        nobody, unknown = len(names) - 2, len(names) - 1
        message, client, delivered, published, hops, group = (np.array(v, np.int64) for v in self._deliveries)
        by = [self._published.get(m, (unknown, 0)) for m in message.tolist()]
        given = np.array([at for _, at in by], np.int64)
        pairs = zip(message.tolist(), client.tolist(), strict=True)
        brokers = [self._notified.get(pair, nobody) for pair in pairs]
        start = np.where(published > 0, published, given)
        return pandas.DataFrame(
            {
                "delivered_us": delivered,
                "published_us": start,
                "delay_us": delivered - start,
                "hops": hops,
                "group": names[group],
                "publisher": names[np.array([who for who, _ in by], np.int64)],
                "broker": names[np.array(brokers, np.int64)],
            }
        )

    def _counts(self) -> list[tuple[str, str, int, int, int]]:
        """Link, type, leg, messages and bytes until the run's end."""
        found = []
        for (link, kind, leg), sent in self._sent.items():
            times, sizes = np.array(sent.times, np.int64), np.array(sent.sizes, np.int64)
            all_of_them = not self.ended_us or kind in self.counted
            timely = np.ones(len(times), bool) if all_of_them else times < self.ended_us
            if timely.any():
                found.append((link, kind, leg, int(timely.sum()), int(sizes[timely].sum())))
        return found


def live_tables(folder: RunFolder, plan: Plan) -> LiveTables:
    purposes = {message.name: message.purpose for message in folder.read_catalogue().messages}
    brokers = frozenset(broker.id for broker in plan.brokers)
    return LiveTables(brokers, purposes, frozenset(plan.log_detail.counted))


def delay_table(got: pandas.DataFrame, first_us: int) -> pandas.DataFrame:
    """`first_us`: of the first publication."""
    passed_us = np.maximum(got.published_us - first_us + LEAD_US, 0)
    window = passed_us // WINDOW_US * (WINDOW_US // 1_000_000)
    groups = {
        "all": got.assign(all="all").groupby("all"),
        "class": got.groupby("group"),
        "publisher": got.groupby("publisher"),
        "broker": got.groupby("broker"),
        "window": got.groupby(window),
    }
    return pandas.DataFrame(
        [
            {
                "group_by": by,
                "group": str(name),
                "count": len(rows),
                "mean_us": rows.delay_us.mean(),
                **{column: rows.delay_us.quantile(q) for column, q in QUANTILES.items()},
                "max_us": rows.delay_us.max(),
            }
            for by, grouped in groups.items()
            for name, rows in grouped
        ]
    )


def hop_table(got: pandas.DataFrame) -> pandas.DataFrame:
    counts = got.groupby("hops").size().reset_index(name="count")
    return counts.assign(measure="overlay", share=counts["count"] / max(1, len(got)))


def load_table(
    received: dict[str, array[int]], other: dict[str, array[int]], first_us: int
) -> pandas.DataFrame:
    """A row for every window in which a broker logged anything, `other` than a reception, too."""
    rows = []
    for broker in sorted(received.keys() | other.keys()):
        got, rest = (_windows(times.get(broker), first_us) for times in (received, other))
        windows, counts = np.unique(np.concatenate([got, rest]), return_counts=True)
        idle = dict(zip(*np.unique(rest, return_counts=True), strict=True))
        rows += [
            {
                "broker": broker,
                "window_s": int(window) * (WINDOW_US // 1_000_000),
                "received_per_s": int(count - idle.get(window, 0)) * 1e6 / WINDOW_US,
            }
            for window, count in zip(windows, counts, strict=True)
        ]
    return pandas.DataFrame(rows)


def _windows(times: array[int] | None, first_us: int) -> Ints:
    return np.maximum(np.array(times or [], np.int64) - first_us, 0) // WINDOW_US


def overhead_table(
    counts: Iterable[tuple[str, str, int, int, int]], deliveries: int, purposes: Mapping[str, str]
) -> pandas.DataFrame:
    """By link and type, with the sums per class and in all; the wire is not known yet."""
    kinds = pandas.DataFrame(counts, columns=["link", "type", "leg", "log_messages", "log_bytes"])
    of_leg = zip(kinds.type, kinds.leg, strict=True)
    kinds["purpose"] = [purpose_of(purposes.get(kind, UNKNOWN), leg) for kind, leg in of_leg]
    kinds["class"] = ["data" if is_data(purpose) else "control" for purpose in kinds.purpose]
    numbers = ["log_messages", "log_bytes"]
    classes = kinds.groupby(["link", "class"], as_index=False)[numbers].sum()
    everything = kinds.groupby("link", as_index=False)[numbers].sum().assign(**{"class": "all"})
    sums = pandas.concat([classes, everything], ignore_index=True).assign(type="all", purpose="all")
    both = pandas.concat([kinds, sums], ignore_index=True)
    both = both.assign(
        wire_messages=float("nan"),
        difference=float("nan"),
        messages_per_delivery=both.log_messages / deliveries if deliveries else float("nan"),
        order=both["class"].map(ORDER),
        last=both.type == "all",
    )
    keys = ["link", "order", "last", "type", "leg"]
    ordered = both.sort_values(keys, ascending=[False, True, True, True, True])
    return ordered.drop(columns=["order", "last", "leg"]).reset_index(drop=True)
