"""A run, or one publication, as lines that people read: its event logs in the order of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from protos.records import LogEvent

# Records of single messages and samples: thousands, and no part of a run's story.
TRAFFIC = frozenset(
    {"PUBLISHED", "DELIVERED", "FORWARDED", "NOTIFIED", "PROCESSED", "SENT", "RECEIVED", "SAMPLED", "COUNTED"}
)
TOLD = {
    "STARTED": "starts ({detail})",
    "STOPPED": "stops {detail}",
    "LINK_UP": "link with {peer} is up",
    "LINK_DOWN": "link with {peer} is down {detail}",
    "CONNECTED": "is served by {peer}",
    "DISCONNECTED": "is served by nobody ({detail})",
    "ADVERTISED": "advertises {content}",
    "SUBSCRIBED": "subscribes to {content}",
    "UNADVERTISED": "takes back its advertisement {message}",
    "UNSUBSCRIBED": "takes back its subscription {message}",
    "HANDED_OVER": "was handed over from {detail} to {peer} in {duration}",
    "PUBLISHED": "publishes {content}",
    "PROCESSED": "matches it: from {peer}, {hops}, waited {queueing}, matched in {matching}",
    "FORWARDED": "sends it on to {peer}, after {sending} in the queue",
    "NOTIFIED": "sends it to its client {peer}, after {sending} in the queue",
    "DELIVERED": "has it {detail}, over {hops}",
    "DROPPED": "drops {type} for {peer}: {detail}",
    "REFUSED": "refuses {type} of {peer}: {detail}",
    "PHASE_STARTED": "phase {detail} begins",
    "PHASE_READY": "phase {detail} is ready after {duration}",
    "FAULT_STARTED": "{type}: {detail}",
    "FAULT_ENDED": "{type} is over: {detail}",
    "CRASHED": "crashed: {detail}",
    "RUN_ENDED": "the run ends",
    "INSTRUCTED": "tells {detail} to {type}: {content}",
    "MIGRATION_STARTED": "moves from {peer} to {detail}",
    "MIGRATED": "publishes at {peer} after a pause of {duration}",
    "MIGRATION_ABORTED": "does not move: {detail}",
}
FIRST = {"PHASE_STARTED": 0, "FAULT_STARTED": 0, "PUBLISHED": 0, "DELIVERED": 2}  # all others between


@dataclass(frozen=True)
class Choice:
    """Which records are told."""

    publication: str = ""
    node: str = ""
    everything: bool = False

    def wants(self, event: LogEvent) -> bool:
        if self.node and self.node not in (event.node, event.peer):
            return False
        if self.publication:
            return event.message == self.publication
        return self.everything or event.kind not in TRAFFIC


def in_order(events: Iterable[LogEvent]) -> list[LogEvent]:
    """By time, and in one instant causes first; of one process as it wrote them."""
    return sorted(events, key=lambda event: (event.t_us, FIRST.get(event.kind, 1), event.node, event.n))


def lines(events: Iterable[LogEvent], start_us: int, width: int = 0) -> Iterator[str]:
    """A line each: seconds since the start, who, what."""
    for event in events:
        who = event.node.ljust(width)
        yield f"{(event.t_us - start_us) / 1e6:13.6f} s  {who}  {sentence(event)}"


def sentence(event: LogEvent) -> str:
    pattern = TOLD.get(event.kind)
    if pattern is None:  # of a protocol, perhaps one of another package
        parts = (event.type, event.peer, event.message, event.detail, event.content)
        return " ".join([event.kind.lower().replace("_", " "), *filter(None, parts)])
    said = pattern.format(
        type=event.type, peer=event.peer, message=event.message, detail=event.detail, content=event.content,
        hops=f"{event.hops} hop" + ("" if event.hops == 1 else "s"),
        duration=_time(event.duration_us), queueing=_time(event.queueing_us),
        matching=_time(event.matching_us), sending=_time(event.sending_us),
    )  # fmt: skip
    return " ".join(said.replace("()", "").split()).replace(" ,", ",")


def _time(us: int) -> str:
    return f"{us} µs" if us < 1000 else f"{us / 1000:.3f} ms" if us < 1_000_000 else f"{us / 1e6:.3f} s"
