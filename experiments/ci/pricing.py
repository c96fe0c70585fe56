"""What messages cost, by the brokers' records: equation 1, and the same per hop for what is no data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from testbed.flow.selforganising.play import Costs

NAMES = {"interest_broadcast": "interest", "link_request": "request"}
Table = Sequence[Sequence[float]]


def purpose_of(type_: str) -> str:
    """As flow calls it; empty for what flow has no part in (subscriptions, heartbeats)."""
    return "exchange" if type_.startswith("exchange_") else NAMES.get(type_, "")


class Pricing:
    """Costs and messages by sample and purpose. `costs` hold from their instants on, until the next."""

    def __init__(
        self,
        brokers: Sequence[str],
        costs: Sequence[tuple[int, Costs]],
        sample_us: int,
        end_us: int = 1 << 62,
    ) -> None:
        """Nothing is counted from `end_us` after the start on: brokers go on while a run ends."""
        self.numbers = {name: n for n, name in enumerate(brokers)}
        self.start_us = -1  # of the clients: nothing before it is counted
        self.costs: dict[tuple[int, str], float] = defaultdict(float)
        self.messages: dict[tuple[int, str], int] = defaultdict(int)
        self.exchanges: list[tuple[int, str]] = []  # (instant, new and old link)
        self._sample_us, self._end_us = sample_us, end_us
        self._from = [at for at, _ in costs]
        self._each: list[tuple[Table, Sequence[float]]] = [(one.links, one.processing) for _, one in costs]

    def record(self, kind: str, type_: str, t_us: int, node: str, peer: str) -> None:
        """FORWARDED, SENT and PROCESSED records of brokers."""
        if self.start_us < 0 or t_us < self.start_us or node not in self.numbers:
            return
        at = t_us - self.start_us
        if at >= self._end_us:
            return
        links, processing = self._each[max(0, sum(at >= since for since in self._from) - 1)]
        sample = at // self._sample_us
        if kind == "PROCESSED":
            if peer not in self.numbers:  # where a notification begins; else its hop has paid
                self.costs[sample, "data"] += processing[self.numbers[node]]
            return
        purpose = "data" if kind == "FORWARDED" else purpose_of(type_)
        if purpose and peer in self.numbers:
            a, b = self.numbers[node], self.numbers[peer]
            self.costs[sample, purpose] += links[a][b] + processing[b]
            self.messages[sample, purpose] += 1

    def exchanged(self, t_us: int, type_: str, group: str, content: str) -> None:
        if type_ == "done" and group == "ordered" and t_us - self.start_us < self._end_us:
            self.exchanges.append((t_us - self.start_us, content))

    def rows(self) -> list[Mapping[str, float | int | str]]:
        return [
            {"sample": sample, "purpose": purpose, "messages": self.messages[sample, purpose], "cost": cost}
            for (sample, purpose), cost in sorted(self.costs.items())
        ]
