"""The publisher's side of a migration (POP 3.3): pause, advertise at the target, resume there.

    MigrationOrder from the source     pause, and tell the source so; connect to the target
    connected to the target            MigrationAdvertisement to it
    MigrationResume from the target    hand over the buffer there; leave the source
    MigrationAbort from the target     publish at the source again

If the target cannot be reached nothing has changed, and the publisher goes on at the source at once.
If it is lost later, routes may have changed as far as the source, and the target's neighbours are
withdrawing them. The publisher then lets that settle, advertises anew at the source, and lets the
subscriptions come, before it publishes again: what it publishes after its resume is not lost. While
the target is there it waits: brokers complete a migration also when the path is broken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from broker_grpc.client.part import Handler, Part
from protos.body import Body, Envelope
from protos.client_messages import Advertisement, Unadvertisement
from protos.relocation_messages import (
    MigrationAbort,
    MigrationAdvertisement,
    MigrationOrder,
    MigrationPaused,
    MigrationResume,
)

if TYPE_CHECKING:
    from broker_grpc.client.machine import ClientMachine
    from broker_grpc.client.state import Item

State = Literal["connecting", "advertised", "withdrawing", "settling"]


class Migration:
    __slots__ = ("deadline_us", "item", "order", "source", "started_us", "state", "target")

    def __init__(self, item: Item, source: str, order: MigrationOrder, now_us: int, deadline_us: int) -> None:
        self.item = item
        self.source = source
        self.target = order.brokers[0]
        self.order = order
        self.started_us = now_us
        self.deadline_us = deadline_us
        self.state: State = "connecting"


class Migrations(Part):
    def __init__(self, client: ClientMachine) -> None:
        super().__init__(client)
        self._running: dict[str, Migration] = {}  # by advertisement id: one at a time each

    def handlers(self) -> dict[type[Body], Handler]:
        return {
            MigrationOrder: self._ordered,
            MigrationResume: self._resumed,
            MigrationAbort: self._aborted,
        }

    def uses(self, peer: str) -> bool:
        return any(peer in (m.source, m.target) for m in self._running.values())

    def next_deadline_us(self) -> int | None:
        waits = (m.deadline_us for m in self._running.values() if m.state != "advertised")
        return min(waits, default=None)

    def _ordered(self, peer: str, _: Envelope, order: MigrationOrder) -> None:
        client = self._client
        item = client.item_of(order.advertisement)
        if item is None or item.leaving or not order.brokers or order.advertisement in self._running:
            return self._abort_order(peer, order, "the publisher cannot move this advertisement")
        target = order.brokers[0]
        if order.target_address:
            client.addresses[target] = order.target_address
        migration = Migration(
            item, peer, order, client.now_us, client.now_us + client.options.migration_timeout_us
        )
        self._running[order.advertisement] = migration
        item.paused = True
        client.send(peer, MigrationPaused(order.migration, order.advertisement))
        client.log("MIGRATION_STARTED", peer=peer, message=order.advertisement, detail=target)
        if target in client.connected:
            self._advertise(migration)
        else:
            client.open(target)

    def _abort_order(self, peer: str, order: MigrationOrder, reason: str) -> None:
        self._client.send(peer, MigrationAbort(order.migration, order.advertisement, order.brokers, reason))

    def _advertise(self, migration: Migration) -> None:
        order = migration.order
        migration.state = "advertised"
        advertisement = Advertisement(order.advertisement, self._client.id, migration.item.filter.predicates)
        self._client.send(
            migration.target, MigrationAdvertisement(order.migration, advertisement, order.brokers)
        )

    def peer_up(self, peer: str) -> None:
        for migration in self._of_target(peer):
            if migration.state == "connecting":
                self._advertise(migration)

    def peer_down(self, peer: str) -> None:
        for migration in self._of_target(peer):
            if migration.state == "advertised":
                self._return(migration, "the target was lost")

    def _of_target(self, peer: str) -> list[Migration]:
        return [m for _, m in sorted(self._running.items()) if m.target == peer]

    # ------------------------------------------------------------ ends

    def _resumed(self, peer: str, _: Envelope, message: MigrationResume) -> None:
        migration = self._running.get(message.advertisement)
        if migration is None or migration.order.migration != message.migration or migration.target != peer:
            return
        del self._running[message.advertisement]
        migration.item.id = message.advertisement
        duration = self._client.now_us - migration.started_us
        self._client.log("MIGRATED", peer=peer, message=message.advertisement, duration_us=duration)
        self._client.moved(migration.item, peer)

    def _aborted(self, peer: str, _: Envelope, message: MigrationAbort) -> None:
        migration = self._running.get(message.advertisement)
        if migration is not None and migration.order.migration == message.migration:
            self._abort_order(migration.source, migration.order, message.reason)
            self._end(migration, message.reason)

    def deadline(self, now_us: int) -> None:
        for _, migration in sorted(self._running.items()):
            if migration.deadline_us > now_us:
                continue
            if migration.state == "connecting":
                self._abort_order(migration.source, migration.order, "the target cannot be reached")
                self._end(migration, "the target cannot be reached")
            elif migration.state == "withdrawing":
                self._advertise_anew(migration)
            elif migration.state == "settling":
                self._end(migration, "the target was lost")

    def _return(self, migration: Migration, reason: str) -> None:
        """Back to the source; first let the brokers withdraw what they know of the target."""
        self._abort_order(migration.source, migration.order, reason)
        self._wait(migration, "withdrawing")

    def _advertise_anew(self, migration: Migration) -> None:
        client, item = self._client, migration.item
        if migration.source in client.connected:
            client.send(migration.source, Unadvertisement(migration.order.advertisement))
        item.id = ""
        client.request(item)
        self._wait(migration, "settling")

    def _wait(self, migration: Migration, state: State) -> None:
        migration.state = state
        migration.deadline_us = self._client.now_us + self._client.options.settle_us

    def _end(self, migration: Migration, reason: str) -> None:
        del self._running[migration.order.advertisement]
        client = self._client
        duration = client.now_us - migration.started_us
        client.log("MIGRATION_ABORTED", peer=migration.source, message=migration.order.advertisement,
                   duration_us=duration, detail=reason)  # fmt: skip
        client.resume(migration.item)
        client.release(migration.target, "migration aborted")
