"""A broker sends its client to another one: make before break, nothing lost or doubled.

    Redirect from the broker     connect to the other one
    connected to it              advertise and subscribe there what is held here
    all of it is acknowledged    the other broker is home; publications go there (HANDED_OVER)
    `handover_overlap_us` later  leave the old one

Meanwhile both notify. The client's window of ids keeps second copies from the application. The overlap is
the time that the new broker's subscriptions may take until they have effect everywhere. If one of the two
brokers is lost before, or the other one refuses something, nothing has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from broker_grpc.client.part import Handler, Part
from broker_grpc.registry import ClientSide
from protos.body import Body, Envelope
from protos.client_messages import Advertisement, Redirect, Subscription, Unadvertisement, Unsubscription
from protos.core_messages import Ack

if TYPE_CHECKING:
    from broker_grpc.client.machine import ClientMachine
    from broker_grpc.client.state import Item

State = Literal["connecting", "subscribing", "leaving"]


class Handover:
    __slots__ = ("asked", "deadline_us", "ids", "source", "started_us", "state", "target")

    def __init__(self, source: str, target: str, now_us: int, deadline_us: int) -> None:
        self.source = source
        self.target = target
        self.started_us = now_us
        self.deadline_us = deadline_us
        self.state: State = "connecting"
        self.asked: dict[int, int] = {}  # request at the target -> token
        self.ids: dict[int, tuple[str, bool]] = {}  # token -> id at the target, is an advertisement


class Handovers(Part):
    """One at a time."""

    def __init__(self, client: ClientMachine) -> None:
        super().__init__(client)
        self._running: Handover | None = None
        self._copies_until_us = 0
        self._other_acks = client.handlers[Ack]

    def handlers(self) -> dict[type[Body], Handler]:
        return {Redirect: self._redirected, Ack: self._acknowledged}

    def peers(self) -> set[str]:
        return {self._running.source, self._running.target} if self._running is not None else set()

    def uses(self, peer: str) -> bool:
        return peer in self.peers()

    def expects_copies(self) -> bool:
        return self._running is not None or self._client.now_us < self._copies_until_us

    def next_deadline_us(self) -> int | None:
        return self._running.deadline_us if self._running is not None else None

    # ------------------------------------------------------------ begin

    def _redirected(self, peer: str, _: Envelope, order: Redirect) -> None:
        client = self._client
        why_not = self._objection(peer, order.broker)
        if why_not:
            return client.log("DROPPED", peer=peer, type=order.type, detail=why_not)
        if order.address:
            client.addresses[order.broker] = order.address
        patience = client.now_us + client.options.handover_timeout_us
        self._running = Handover(peer, order.broker, client.now_us, patience)
        if order.broker in client.connected:
            self._make()
        else:
            client.open(order.broker)

    def _objection(self, peer: str, target: str) -> str:
        if self._running is not None:
            return "another handover is under way"
        if peer != self._client.broker or not target or target == peer:
            return f"{peer} cannot send this client to {target or 'nobody'}"
        if any(item.paused for item in self._client.items.values()):
            return "a publisher migrates"
        return ""

    def peer_up(self, peer: str) -> None:
        running = self._running
        if running is not None and running.target == peer and running.state == "connecting":
            self._make()

    # ------------------------------------------------------------ make

    def _held_here(self, running: Handover) -> list[Item]:
        return [item for _, item in sorted(self._client.items.items()) if item.home == running.source]

    def _make(self) -> None:
        """Ask at the target for what is not asked for there; when nothing is left, it is home."""
        running, client = self._running, self._client
        assert running is not None
        running.state = "subscribing"
        known = {*running.asked.values(), *running.ids}
        items = self._held_here(running)
        for item in items:
            if item.id and not item.leaving and item.token not in known:
                kind = Advertisement if item.is_advertisement else Subscription
                request = client.new_request()
                running.asked[request] = item.token
                client.send(running.target, kind("", client.id, item.filter.predicates), request)
        waiting = running.asked or any(not item.id and not item.leaving for item in items)
        if not waiting:
            self._switch(running)

    def _acknowledged(self, peer: str, envelope: Envelope, ack: Ack) -> None:
        running = self._running
        if running is None or peer != running.target or envelope.request not in running.asked:
            self._other_acks(peer, envelope, ack)
            if running is not None and running.state == "subscribing":
                self._make()  # what the old broker has just acknowledged moves too
            return
        token = running.asked.pop(envelope.request)
        if ack.error:
            return self._give_up(running, ack.error)
        item = self._client.items.get(token)
        is_advertisement = item.is_advertisement if item is not None else False
        running.ids[token] = ack.id, is_advertisement
        if item is None:
            self._withdraw(running, token)
        self._make()

    def _withdraw(self, running: Handover, token: int) -> None:
        """Given up by the application meanwhile."""
        id_, is_advertisement = running.ids.pop(token)
        gone = Unadvertisement(id_) if is_advertisement else Unsubscription(id_)
        self._client.send(running.target, gone, self._client.new_request())

    def _switch(self, running: Handover) -> None:
        client, renamed = self._client, {}
        for token in [token for token in running.ids if token not in client.items]:
            self._withdraw(running, token)
        for item in self._held_here(running):
            if item.token in running.ids and not item.leaving:
                id_, _ = running.ids[item.token]
                renamed[item.id] = id_
                item.id, item.home = id_, running.target
        client.log(
            "HANDED_OVER", peer=running.target, detail=running.source,
            duration_us=client.now_us - running.started_us,
            content=msgspec.json.encode(renamed).decode(),
        )  # fmt: skip
        running.state, running.deadline_us = "leaving", client.now_us + client.options.handover_overlap_us
        client.handed_over(running.target)

    # ------------------------------------------------------------ break

    def deadline(self, now_us: int) -> None:
        running = self._running
        if running is None or running.deadline_us > now_us:
            return
        if running.state == "leaving" and self._held_here(running):
            running.deadline_us = now_us + self._client.options.handover_overlap_us  # withdrawn, not yet told
        elif running.state == "leaving":
            self._end(running, "handed over")
        else:
            self._give_up(running, "the other broker does not answer")

    def _end(self, running: Handover, reason: str) -> None:
        self._running = None
        self._copies_until_us = self._client.now_us + self._client.options.handover_overlap_us
        self._client.release(running.source, reason)

    def _give_up(self, running: Handover, reason: str) -> None:
        """Stay: with the stream go the subscriptions that were made there."""
        client = self._client
        self._running = None
        self._copies_until_us = client.now_us + client.options.handover_overlap_us
        client.log("DROPPED", peer=running.target, type=Redirect.type, detail=f"handover given up: {reason}")
        client.release(running.target, "handover given up")

    def peer_down(self, peer: str) -> None:
        running = self._running
        if running is None or not self.uses(peer):
            return
        if running.state != "leaving":
            self._give_up(running, f"{peer} was lost")
        elif peer == running.source:
            self._end(running, "it is gone")


REDIRECTED = ClientSide((Redirect,), Handovers)  # a message of client.proto: any protocol may send it
