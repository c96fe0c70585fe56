"""Which links an exchange gives and takes, and where each broker of its cycle stands. Pure.

The `path` leads along the old tree from one end of the new link to the other: a = path[0] ... c = path[cut],
d = path[cut + 1] ... b = path[-1]. New link a-b, removed link c-d. The `chain` is the way of the new tree
through the same brokers: c ... a, b ... d. Path and chain together close the cycle.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from broker_grpc.errors import ProtocolError


class Swap(msgspec.Struct, frozen=True):
    path: tuple[str, ...]
    cut: int

    @property
    def added(self) -> tuple[str, str]:
        return self.path[0], self.path[-1]

    @property
    def removed(self) -> tuple[str, str]:
        return self.path[self.cut], self.path[self.cut + 1]

    @property
    def chain(self) -> tuple[str, ...]:
        return self.path[self.cut :: -1] + self.path[: self.cut : -1]

    def before(self, broker: str) -> str:
        """On the path; "" = none."""
        at = self.path.index(broker)
        return self.path[at - 1] if at else ""

    def after(self, broker: str) -> str:
        return self.path[self.path.index(broker) + 1] if broker != self.path[-1] else ""

    def left(self, broker: str) -> str:
        """On the chain; "" = none."""
        at = self.chain.index(broker)
        return self.chain[at - 1] if at else ""

    def right(self, broker: str) -> str:
        return self.chain[self.chain.index(broker) + 1] if broker != self.chain[-1] else ""

    def around(self, broker: str) -> tuple[str, str]:
        """Both neighbours on the cycle: of the chain, or over the removed link."""
        chain, at = self.chain, self.chain.index(broker)
        return chain[at - 1], chain[(at + 1) % len(chain)]

    def is_on_near_side(self, broker: str) -> bool:
        """Whether it stays with the path's start when the old link goes."""
        return self.path.index(broker) <= self.cut

    def far_end(self, broker: str) -> str:
        """The other end of the new link, at one of its ends; else ""."""
        a, b = self.added
        return b if broker == a else a if broker == b else ""

    def lost_end(self, broker: str) -> str:
        """The other end of the removed link, at one of its ends; else ""."""
        c, d = self.removed
        return d if broker == c else c if broker == d else ""


def swap_of(path: Sequence[str], remove: tuple[str, str]) -> Swap:
    """Raises ProtocolError for what is no exchange."""
    for at in range(len(path) - 1):
        if {path[at], path[at + 1]} == set(remove):
            return checked(Swap(tuple(path), at))
    raise ProtocolError(
        f"the link {remove[0]} {remove[1]} is not on the way {' '.join(path)} that the new link closes"
    )


def checked(swap: Swap) -> Swap:
    path = swap.path
    if len(path) < 3 or len(set(path)) != len(path):
        raise ProtocolError(f"a new link closes a cycle of at least three brokers, not {' '.join(path)!r}")
    if not 0 <= swap.cut < len(path) - 1:
        raise ProtocolError(f"no link {swap.cut} on the way {' '.join(path)}")
    return swap
