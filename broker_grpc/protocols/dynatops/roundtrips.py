"""Round trips to other brokers, for delays of the cost (4).

A round trip is a Probe and its answer over a link that is up; a link that nobody else wants is asked of the
pool for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from protos.body import Body
from protos.core_messages import Probe

REASON = "round trip"
PATIENCE_US = 5_000_000


class ProbingHost(Protocol):
    @property
    def now_us(self) -> int: ...

    def send(self, peer: str, body: Body, request: int = 0) -> None: ...

    def has_link(self, peer: str) -> bool: ...

    def demand_probed(self, wanted: dict[str, str]) -> None: ...


class RoundTrips:
    """`every_us` 0 = nothing is measured."""

    def __init__(self, host: ProbingHost, others: Sequence[str], every_us: int) -> None:
        self._host = host
        self._others = others
        self._every_us = every_us
        self._known: dict[str, int] = {}
        self._sent: dict[int, tuple[str, int]] = {}
        self._waiting: set[str] = set()
        self._sequence = 0
        self._next_us: int | None = 0 if every_us and others else None
        self._until_us: int | None = None

    # ------------------------------------------------------------ what is known

    def to(self, peer: str) -> int | None:
        return self._known.get(peer)

    def told(self) -> tuple[tuple[str, ...], tuple[int, ...]]:
        return tuple(sorted(self._known)), tuple(self._known[peer] for peer in sorted(self._known))

    @property
    def settled(self) -> bool:
        return self._until_us is None

    # ------------------------------------------------------------ a round

    def next_deadline_us(self) -> int | None:
        return min((at for at in (self._next_us, self._until_us) if at is not None), default=None)

    def deadline(self, now_us: int) -> None:
        if self._until_us is not None and self._until_us <= now_us:
            self._end()
        if self._next_us is not None and self._next_us <= now_us:
            self._next_us, self._until_us = now_us + self._every_us, now_us + PATIENCE_US
            self._waiting = set(self._others)
            self._host.demand_probed(dict.fromkeys(self._others, REASON))
            for peer in self._others:
                if self._host.has_link(peer):
                    self._probe(peer)

    def _probe(self, peer: str) -> None:
        self._sequence += 1
        self._sent[self._sequence] = peer, self._host.now_us
        self._host.send(peer, Probe(self._sequence))

    def peer_up(self, peer: str) -> None:
        if peer in self._waiting:
            self._probe(peer)

    def peer_down(self, peer: str) -> None:
        self._sent = {number: sent for number, sent in self._sent.items() if sent[0] != peer}

    def answered(self, peer: str, sequence: int) -> None:
        whom, sent_us = self._sent.pop(sequence, ("", 0))
        if whom == peer:
            self._known[peer] = self._host.now_us - sent_us
            self._waiting.discard(peer)
            if not self._waiting and self._until_us is not None:
                self._end()

    def _end(self) -> None:
        self._until_us = None
        self._sent.clear()
        self._waiting.clear()
        self._host.demand_probed({})
