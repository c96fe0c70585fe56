"""What rings say: members in and out of messages, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable

from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.ring.identifiers import Member, is_id
from protos.ring_messages import RingMembers

MOST_MEMBERS = 256  # of one message


def packed(members: Iterable[Member]) -> RingMembers:
    listed = list(members)
    return RingMembers(tuple(one.id for one in listed), tuple(one.broker for one in listed))


def unpacked(known: RingMembers | None) -> list[Member]:
    """Raises ProtocolError for lists that are none."""
    if known is None:
        return []
    if len(known.ids) != len(known.brokers):
        raise ProtocolError(f"{len(known.ids)} ids of {len(known.brokers)} brokers")
    if len(known.ids) > MOST_MEMBERS:
        raise ProtocolError(f"{len(known.ids)} members in one message; {MOST_MEMBERS} are allowed")
    return [checked(id_, broker) for id_, broker in zip(known.ids, known.brokers, strict=True)]


def checked(id_: object, broker: object) -> Member:
    if not isinstance(id_, int) or not is_id(id_):
        raise ProtocolError(f"{id_!r} is no id: a number from 0 to 2^64 - 1")
    if not isinstance(broker, str) or not broker:
        raise ProtocolError(f"{broker!r} is no broker")
    return Member(id_, broker)


def checked_path(path: tuple[str, ...], peer: str, limit: int) -> None:
    """Of a question: it begins with the asker and ends with who sent it on."""
    if not path or path[-1] != peer:
        raise ProtocolError("a question must come from the last broker of its path")
    if len(set(path)) < len(path):
        raise ProtocolError("a question came twice to the same broker")
    if len(path) > limit:
        raise ProtocolError(f"a question over {len(path)} brokers; the limit is {limit}")
