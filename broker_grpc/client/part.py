"""What a part of a client is: the client's side of something that brokers ask of it.

A part takes messages, and is told what happens to the client's connections. It acts through the methods of
the client machine that are for its parts (`send`, `open`, `release`, `log`, `moved`, ...). It is made when
the first of its messages comes: a client that is never asked has none. A protocol names those of its own in
its `Entry` (`ClientSide`); the client machine knows none of them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from protos.body import Body, Envelope

if TYPE_CHECKING:
    from broker_grpc.client.machine import ClientMachine

Handler = Callable[[str, Envelope, Any], None]  # peer, envelope and its body


class Part:
    """Overrides what it needs; `handlers` is read once, when the part is made."""

    def __init__(self, client: ClientMachine) -> None:
        self._client = client

    def handlers(self) -> Mapping[type[Body], Handler]:
        """A message that another part takes already goes to the one made last, which may pass it on."""
        return {}

    def peer_up(self, peer: str) -> None:
        """A connection is there, and what was held at this broker has been asked for again."""

    def peer_down(self, peer: str) -> None:
        """A connection is lost."""

    def uses(self, peer: str) -> bool:
        """Whether this part needs the connection: the client leaves brokers that nothing needs."""
        return False

    def peers(self) -> set[str]:
        """Brokers that it may have asked to be connected to: a client that closes leaves them too."""
        return set()

    def expects_copies(self) -> bool:
        """Whether two brokers may notify of the same publication, through no fault of theirs."""
        return False

    def next_deadline_us(self) -> int | None:
        """When `deadline` is to be called, None = never."""
        return None

    def deadline(self, now_us: int) -> None:
        """Some deadline of the client has come, not always this part's."""
