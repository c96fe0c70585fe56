"""The publisher's side of a migration (POP 3.3): pause, advertise at the target, resume there.

    MigrationOrder from the source     pause; connect to the target
    connected to the target            MigrationAdvertisement to it
    MigrationResume from the target    hand over the buffer there; leave the source
    MigrationAbort from either         publish at the source again

The publisher gives up by itself only while brokers cannot have changed anything (the target cannot be
reached). Later, if the target is lost or nothing comes in time, it asks the source to undo; and if the
source does not answer either, it advertises anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from protos.messages import (
    Advertisement,
    MigrationAbort,
    MigrationAdvertisement,
    MigrationOrder,
    MigrationResume,
)

if TYPE_CHECKING:
    from broker_grpc.client_machine import ClientMachine, Item

State = Literal["connecting", "advertised", "undoing"]


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


class Migrations:
    def __init__(self, client: ClientMachine) -> None:
        self._client = client
        self._running: dict[str, Migration] = {}  # by advertisement id: one at a time each

    def uses(self, peer: str) -> bool:
        return any(peer in (m.source, m.target) for m in self._running.values())

    def next_deadline_us(self) -> int | None:
        return min((m.deadline_us for m in self._running.values()), default=None)

    def ordered(self, peer: str, order: MigrationOrder) -> None:
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
                self._undo(migration, "the target was lost")

    def _of_target(self, peer: str) -> list[Migration]:
        return [m for _, m in sorted(self._running.items()) if m.target == peer]

    # ------------------------------------------------------------ ends

    def resumed(self, peer: str, message: MigrationResume) -> None:
        migration = self._running.get(message.advertisement)
        if migration is None or migration.order.migration != message.migration or migration.target != peer:
            return
        del self._running[message.advertisement]
        migration.item.id = message.advertisement
        duration = self._client.now_us - migration.started_us
        self._client.log("MIGRATED", peer=peer, message=message.advertisement, duration_us=duration)
        self._client.moved(migration.item, peer)

    def aborted(self, peer: str, message: MigrationAbort) -> None:
        migration = self._running.get(message.advertisement)
        if migration is not None and migration.order.migration == message.migration:
            self._end(migration, message.reason)

    def deadline(self, now_us: int) -> None:
        for _, migration in sorted(self._running.items()):
            if migration.deadline_us > now_us:
                continue
            if migration.state == "advertised":
                self._undo(migration, "nothing came in time")
            elif migration.state == "connecting":
                self._abort_order(migration.source, migration.order, "the target cannot be reached")
                self._end(migration, "the target cannot be reached")
            else:
                migration.item.id = ""  # nobody knows where the advertisement is: start afresh
                self._end(migration, "the source did not undo")

    def _undo(self, migration: Migration, reason: str) -> None:
        """Ask the source to put the routes back; it answers with an abort."""
        migration.state = "undoing"
        migration.deadline_us = self._client.now_us + self._client.options.migration_timeout_us
        self._abort_order(migration.source, migration.order, reason)

    def _end(self, migration: Migration, reason: str) -> None:
        del self._running[migration.order.advertisement]
        client = self._client
        duration = client.now_us - migration.started_us
        client.log("MIGRATION_ABORTED", peer=migration.source, message=migration.order.advertisement,
                   duration_us=duration, detail=reason)  # fmt: skip
        client.resume(migration.item)
        client.release(migration.target, "migration aborted")
