"""Algorithms 1 to 3 of section 4.2 as printed, without remembered bit vectors."""

from __future__ import annotations

from broker_grpc.protocols.relocation.selection import BrokerStatistics

Brokers = dict[str, BrokerStatistics]


def neighbours(brokers: Brokers, at: str, previous: str | None) -> list[str]:
    return [n for n in brokers[at].neighbours if n in brokers and n != previous]


def calc_avg_delay(
    brokers: Brokers, statistics: list[float], cumulative: float, at: str, previous: str | None
) -> None:
    broker = brokers[at]
    statistics[0] += broker.deliveries * (cumulative + broker.delay_to(""))
    statistics[1] += broker.deliveries
    for neighbour in neighbours(brokers, at, previous):
        calc_avg_delay(brokers, statistics, cumulative + broker.delay_to(neighbour), neighbour, at)


def calc_downstream_bv(brokers: Brokers, at: str, previous: str | None) -> int:
    aggregated = brokers[at].delivered
    for neighbour in neighbours(brokers, at, previous):
        aggregated |= calc_downstream_bv(brokers, neighbour, at)
    return aggregated


def calc_total_msg_rate(brokers: Brokers, at: str, previous: str | None) -> int:
    local = calc_downstream_bv(brokers, at, previous).bit_count()
    return local + sum(calc_total_msg_rate(brokers, n, at) for n in neighbours(brokers, at, previous))


def select(brokers: Brokers, ping_us: dict[str, int], prioritise: str, weight: int, current: str) -> str:
    rows = []
    for candidate in sorted(brokers):
        statistics = [0.0, 0.0]
        calc_avg_delay(brokers, statistics, ping_us.get(candidate, 0), candidate, None)
        delay = statistics[0] / statistics[1] if statistics[1] else float(ping_us.get(candidate, 0))
        rows.append((candidate, float(calc_total_msg_rate(brokers, candidate, None)), delay))
    first, second = (1, 2) if prioritise == "load" else (2, 1)
    low, high = min(r[first] for r in rows), max(r[first] for r in rows)
    left = [r for r in rows if high == low or 100 * (r[first] - low) / (high - low) <= 100 - weight + 1e-9]
    return min(left, key=lambda r: (r[second], r[first], r[0] != current, r[0]))[0]
