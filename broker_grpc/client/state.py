"""What a client machine remembers: its options, what it wants, what waits, what was delivered."""

from __future__ import annotations

import msgspec

from broker_grpc.content.filters import Filter
from protos.client_messages import Publication


class ClientOptions(msgspec.Struct, omit_defaults=True):
    buffer: int = 10_000  # publications that wait while they cannot be handed over; more are dropped
    window: int = 8192  # ids of publications remembered to recognise duplicates, 0 = none
    log_content: bool = True  # attributes of publications in the log
    ping_timeout_us: int = 5_000_000  # patience for the round trips to candidate brokers
    migration_timeout_us: int = 30_000_000  # patience for a migration's target to be reached
    handover_timeout_us: int = 30_000_000  # patience for another broker to which this client is sent
    handover_overlap_us: int = 2_000_000  # served by both, while subscriptions at the new one take effect
    settle_us: int = 5_000_000  # for routes to come or go; the paper's bound of a 10-hop migration
    fallback_after_us: int = 0  # without a connection this long the next fallback broker is tried; 0 = never


class Item:
    """An advertisement or subscription that the application wants."""

    __slots__ = (
        "answered",
        "filter",
        "group",
        "home",
        "id",
        "is_advertisement",
        "leaving",
        "paused",
        "token",
    )

    def __init__(self, token: int, filter_: Filter, is_advertisement: bool, group: str, home: str) -> None:
        self.token = token
        self.filter = filter_
        self.is_advertisement = is_advertisement
        self.group = group
        self.home = home  # broker where it is, or will be, held
        self.id = ""  # given by the broker; empty = not acknowledged
        self.answered = False
        self.leaving = False
        self.paused = False  # publisher migrates


class Waiting(msgspec.Struct, gc=False):
    """A publication in the buffer."""

    item: int  # token of its advertisement, 0 = none
    publication: Publication


class DuplicateWindow:
    """The last ids, so many of them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._seen: dict[str, None] = {}

    def __contains__(self, id_: str) -> bool:
        return id_ in self._seen

    def is_duplicate(self, id_: str) -> bool:
        if not self._size:
            return False
        if id_ in self._seen:
            return True
        self._seen[id_] = None
        if len(self._seen) > self._size:
            del self._seen[next(iter(self._seen))]
        return False
