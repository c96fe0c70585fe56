"""Who has which id: X of the paper, and how it is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.ring.identifiers import Member, id_of

Configuration = dict[str, int]  # broker -> id


def by_themselves(brokers: Iterable[str]) -> Configuration:
    """The ids that brokers take when nobody has reconfigured them."""
    return {broker: id_of(broker) for broker in sorted(brokers)}


def told(configuration: Mapping[str, int]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """As messages have it: who has another id than by itself."""
    moved = {broker: id_ for broker, id_ in sorted(configuration.items()) if id_ != id_of(broker)}
    return tuple(moved), tuple(moved.values())


def changed(base: Mapping[str, int], brokers: Sequence[str], ids: Sequence[int]) -> Configuration:
    """Raises ProtocolError for moves after which two would have one id, or somebody unknown one."""
    if len(brokers) != len(ids):
        raise ProtocolError(f"{len(brokers)} brokers and {len(ids)} ids")
    unknown = sorted(set(brokers) - base.keys())
    if unknown:
        raise ProtocolError(f"ids for unknown brokers: {', '.join(unknown)}")
    configuration = dict(base) | dict(zip(brokers, ids, strict=True))
    if len(set(configuration.values())) != len(configuration):
        raise ProtocolError("two brokers with one id")
    return configuration


def members(configuration: Mapping[str, int]) -> tuple[Member, ...]:
    return tuple(sorted(Member(id_, broker) for broker, id_ in configuration.items()))
