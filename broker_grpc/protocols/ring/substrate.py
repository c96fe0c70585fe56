"""The contract between a ring and the broker that holds it. Sans-IO, like a machine.

What the broker does with a ring, one `Substrate` per plane:

- It passes on what happens: `received` for each message of `protos/ring.proto` with this plane (all of them
  have a field `plane`; False: not for this ring), `peer_up` and `peer_down` for links to brokers, `deadline`
  when `next_deadline_us` has come (absolute; None = never). All calls come while a stimulus is
  handled: what the ring sends and logs through its `RingHost` leaves with the effects of that stimulus.
- It starts it once with `join`: through any of `seeds` (brokers to begin with; none: the first of its ring),
  which it tries in turn until one answers. With `bootstrap: converged` the ring knows its members, and `join`
  starts only the upkeep. `leave` says farewell to the neighbours; after it the ring is empty.
  `renumber` leaves and joins again with another id.
- It asks `next_hop(key)`: the broker to which whatever is for that key goes next, or None, when the key is
  this broker's own. The answer may name a broker without a link: `RingHost.send` and the broker's own
  messages go through the link pool (`core.linkpool`), which dials and keeps a bounded queue meanwhile.
- It looks at no table. `wanted` says whom the ring needs links to and for which reason; the ring tells the
  host each time that changes (`RingHost.demand`), so the broker need not ask.
- Its `listeners` hear of two things, always after the tables have changed, so that `next_hop` gives the new
  answer:
    `responsibility_moved()`: keys for which next_hop was None may have another answer now, or the reverse.
        Whoever holds something for a key (a root) asks next_hop again for each.
    `replaced(old, new)`: the ring has given up broker `old` (dead or gone); `new` is who stands nearest to
        its place, None when nobody does. What was routed over `old` is to be routed again.

`joined` becomes true with a `responsibility_moved`: a broker keeps what it has to route until then.
`settled`: joined, and no question of its own is outstanding.

`hops` of a routed message are counted by who routes it: `RingSettings.hop_limit` bounds them, and a message
beyond it is dropped with a record. In a settled ring `next_hop` never leads in a circle.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from random import Random
from typing import Protocol

from broker_grpc.protocols.ring.identifiers import Member
from protos.body import Body
from protos.records import LogEvent


class RingListener(Protocol):
    def responsibility_moved(self) -> None: ...

    def replaced(self, old: str, new: str | None) -> None: ...


class RingHost(Protocol):
    """What a ring may do: the broker that holds it, or a part of it."""

    @property
    def id(self) -> str:
        """The broker's name."""

    @property
    def now_us(self) -> int: ...

    @property
    def random(self) -> Random: ...

    def send(self, peer: str, body: Body, request: int = 0) -> None:
        """To any broker: over its link, or when one is up."""

    def log(self, event: LogEvent) -> None: ...

    def rtt_us(self, peer: str) -> int | None:
        """Measured to that broker; None: not measured."""

    def demand(self, plane: int, wanted: Mapping[str, str]) -> None:
        """From now on this plane's ring wants links to these brokers: each with its reason (`leaf`,
        `finger`). Replaces what it wanted before."""


class Substrate(Protocol):
    plane: int
    listeners: list[RingListener]

    @property
    def joined(self) -> bool:
        """A member. Before, and after `leave`, `next_hop` says nothing that could be relied on."""

    @property
    def me(self) -> Member: ...

    def join(self, now_us: int, seeds: Collection[str]) -> None: ...

    def leave(self, now_us: int) -> None: ...

    def renumber(self, now_us: int, id_: int) -> None: ...

    def next_hop(self, key: int) -> str | None: ...

    def received(self, now_us: int, peer: str, body: Body) -> bool:
        """False: no message of this ring. Raises BrokerError for one that is refused."""

    def peer_up(self, now_us: int, peer: str) -> None: ...

    def peer_down(self, now_us: int, peer: str) -> None: ...

    def deadline(self, now_us: int) -> None: ...

    def next_deadline_us(self) -> int | None: ...

    def wanted(self) -> dict[str, str]:
        """Broker -> reason, sorted by broker."""

    @property
    def settled(self) -> bool: ...
