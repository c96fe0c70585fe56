"""Phase 3, shared by POP and GRAPE: move a publisher without loss, duplicates or a broadcast.

    source            publisher             target               brokers on the path
      | MigrationOrder >|                     |
      |< MigrationPaused| (behind its last publication)
      |                 | MigrationAdvertisement >|
      |                 |                     | MigrationUpdate > ... each begins the move ... > source
      | (update and pause seen) MigrationComplete > ... each finishes the move ... > target
      |                 |< MigrationResume ---|
      |< disconnects ---|

Section 3.3 does not say how the source knows that nothing more comes from the publisher; here the
publisher says so on the same stream, and the completion waits for it. And tables change in two
steps (see `content.moving`). Both keep the protocol lossless whatever the delays of the links are.

A broker that finds the next one on the path gone acts as the end of the path: it completes towards
the target. So the publisher ends at the target, and everyone still connected to it is served; if
the target is gone, the publisher returns to the source by itself (`client_machine`).
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.contentbased.layer import LayerHost
from broker_grpc.protocols.contentbased.moving import Moves
from protos.body import Envelope
from protos.records import LogEvent
from protos.relocation_messages import (
    MigrationAbort,
    MigrationAdvertisement,
    MigrationComplete,
    MigrationOrder,
    MigrationPaused,
    MigrationResume,
    MigrationUpdate,
)

Path = tuple[str, ...]  # target first, source last


class Order(msgspec.Struct):
    """The source's view of a migration that it ordered."""

    advertisement: str
    client: str
    path: Path
    paused: bool = False
    updated: bool = False


class Passage(msgspec.Struct):
    """A broker's view of a migration whose update has passed and whose completion has not."""

    advertisement: str
    path: Path
    at: int  # own position on the path
    client: str = ""  # the publisher, at the target only


class Migration:
    """`forgotten(advertisement)` is called as an update passes: what was traced is void."""

    def __init__(self, host: LayerHost, forgotten: Callable[[str], None]) -> None:
        self._host = host
        self._forgotten = forgotten
        self._moves = Moves(host.routing)
        self._orders: dict[str, Order] = {}
        self._passages: dict[str, Passage] = {}
        self._serial = 0

    def moving(self, advertisement: str) -> bool:
        """A migration of this advertisement was ordered here and has not ended."""
        return any(o.advertisement == advertisement for o in self._orders.values())

    def order(self, advertisement: str, client: str, path: Path) -> str:
        """The source broker tells the publisher to move to path[0]."""
        self._serial += 1
        migration = f"{self._host.id}-m{self._serial}"
        self._orders[migration] = Order(advertisement, client, path)
        self._host.send(client, MigrationOrder(migration, advertisement, path))
        return migration

    # ------------------------------------------------------------ messages

    def received(self, peer: str, envelope: Envelope) -> bool:
        """False if the message is not one of ours."""
        body = envelope.body
        if isinstance(body, MigrationPaused):
            self._paused(body)
        elif isinstance(body, MigrationAdvertisement):
            self._advertised(peer, body)
        elif isinstance(body, MigrationUpdate):
            self._update(peer, body)
        elif isinstance(body, MigrationComplete):
            self._complete(body.migration)
        elif isinstance(body, MigrationAbort):
            self._orders.pop(body.migration, None)
        else:
            return False
        return True

    def _paused(self, body: MigrationPaused) -> None:
        order = self._orders.get(body.migration)
        if order is not None:
            order.paused = True
            self._complete_at_source(body.migration, order)

    def _advertised(self, client: str, body: MigrationAdvertisement) -> None:
        """At the target: the advertisement's new last hop is the publisher itself."""
        if body.advertisement is None:
            raise ProtocolError("a migration of no advertisement")
        if not body.brokers or body.brokers[0] != self._host.id:
            self._host.send(
                client, MigrationAbort(body.migration, body.advertisement.id, body.brokers, "wrong target")
            )
            return
        routing = self._host.routing
        if routing.srt.get(body.advertisement.id) is None and not routing.covers_advertisements:
            # A link of the path was lost before, and all behind it were told to forget the publisher:
            # brokers beside the path would not learn of it again. It stays at the source.
            reason = "the path to the source is lost"
            self._host.send(
                client, MigrationAbort(body.migration, body.advertisement.id, body.brokers, reason)
            )
            return
        self._begin(body.migration, MigrationUpdate(body.migration, body.advertisement, body.brokers), client)

    def _update(self, peer: str, body: MigrationUpdate) -> None:
        if body.advertisement is None or self._host.id not in body.brokers:
            raise ProtocolError(f"migration {body.migration} does not come by here")
        self._begin(body.migration, body, peer)

    def _begin(self, migration: str, body: MigrationUpdate, hop: str) -> None:
        assert body.advertisement is not None
        advertisement, path = body.advertisement, body.brokers
        at = path.index(self._host.id)
        if self._host.routing.srt.get(advertisement.id) is None:
            # Held back by covering, or lost with a link: as it would be known from the next broker.
            self._host.accept_advertisement(advertisement, path[min(at + 1, len(path) - 1)])
        self._host.tell(self._moves.begin(advertisement.id, hop))
        self._forgotten(advertisement.id)
        self._passages[migration] = Passage(advertisement.id, path, at, hop if at == 0 else "")
        order = self._orders.get(migration)
        if order is not None:
            order.updated = True
            self._complete_at_source(migration, order)
        elif at + 1 < len(path) and path[at + 1] in self._host.neighbours():
            self._host.send(path[at + 1], body)
        else:
            self._complete(migration)

    def _complete_at_source(self, migration: str, order: Order) -> None:
        if order.paused and order.updated:
            del self._orders[migration]
            self._complete(migration)

    def _complete(self, migration: str) -> None:
        """Finish the move here and pass the completion on towards the target."""
        passage = self._passages.pop(migration, None)
        if passage is None:
            return
        self._host.tell(self._moves.finish(passage.advertisement))
        if passage.at == 0:
            self._host.send(passage.client, MigrationResume(migration, passage.advertisement, self._host.id))
        else:
            onward = MigrationComplete(migration, passage.advertisement, passage.path)
            self._host.send(passage.path[passage.at - 1], onward)

    # ------------------------------------------------------------ failures

    def peer_down(self, peer: str) -> None:
        """The next broker towards the source is gone: this is the end of the path now."""
        for migration, passage in sorted(self._passages.items()):
            following = passage.path[passage.at + 1 : passage.at + 2]
            if following == (peer,):
                self._host.log(
                    LogEvent(
                        kind="MIGRATION_ABORTED", message=passage.advertisement, detail=f"path ends: {peer}"
                    )
                )
                self._complete(migration)
            elif passage.at and passage.path[passage.at - 1] == peer:
                del self._passages[migration]
                self._host.tell(self._moves.finish(passage.advertisement))
        self._client_down(peer)

    def _client_down(self, client: str) -> None:
        """A publisher that left the source has paused for good; one that left the target is gone."""
        for migration, order in sorted(self._orders.items()):
            if order.client == client:
                order.paused = True
                self._complete_at_source(migration, order)
                if not order.updated:
                    self._orders.pop(migration, None)
        for migration, passage in sorted(self._passages.items()):
            if passage.client == client:
                del self._passages[migration]
