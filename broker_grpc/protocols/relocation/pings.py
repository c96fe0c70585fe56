"""The publisher's round-trip times to candidate brokers (GRAPE 4.2).

ICMP may be filtered, so a round trip is a call: Probe and ProbeAnswer on a stream to the broker. A
broker that does not answer in time has a negative round trip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_grpc.client.part import Handler, Part
from protos.body import Body, Envelope
from protos.core_messages import Probe, ProbeAnswer
from protos.relocation_messages import BrokerRtt, PingAnswer, PingRequest

if TYPE_CHECKING:
    from broker_grpc.client.machine import ClientMachine


class Round:
    """One PingRequest being answered."""

    __slots__ = ("advertisement", "asker", "deadline_us", "rtts", "waiting")

    def __init__(self, asker: str, request: PingRequest, deadline_us: int) -> None:
        self.asker = asker
        self.advertisement = request.advertisement
        self.deadline_us = deadline_us
        self.waiting = set(request.brokers)
        self.rtts: dict[str, int] = {}


class Pings(Part):
    def __init__(self, client: ClientMachine) -> None:
        super().__init__(client)
        self._rounds: list[Round] = []
        self._sent: dict[int, tuple[str, int]] = {}  # sequence -> (broker, when)
        self._sequence = 0

    def handlers(self) -> dict[type[Body], Handler]:
        return {PingRequest: self._asked, ProbeAnswer: self._answered}

    def uses(self, peer: str) -> bool:
        return any(peer in round_.waiting for round_ in self._rounds)

    def next_deadline_us(self) -> int | None:
        return min((round_.deadline_us for round_ in self._rounds), default=None)

    def _asked(self, peer: str, _: Envelope, request: PingRequest) -> None:
        deadline = self._client.now_us + self._client.options.ping_timeout_us
        round_ = Round(peer, request, deadline)
        self._rounds.append(round_)
        for broker in sorted(round_.waiting):
            if broker in self._client.connected:
                self._probe(broker)
            elif self._client.addresses.get(broker):
                self._client.open(broker)
            else:
                self._measured(broker, -1)
        self._finish()

    def _probe(self, broker: str) -> None:
        self._sequence += 1
        self._sent[self._sequence] = broker, self._client.now_us
        self._client.send(broker, Probe(self._sequence))

    def peer_up(self, peer: str) -> None:
        if self.uses(peer):
            self._probe(peer)

    def peer_down(self, peer: str) -> None:
        """A dial that goes on may still succeed: the deadline decides."""
        self._sent = {sequence: sent for sequence, sent in self._sent.items() if sent[0] != peer}

    def _answered(self, peer: str, _: Envelope, answer: ProbeAnswer) -> None:
        broker, sent_us = self._sent.pop(answer.sequence, ("", 0))
        if broker == peer:
            self._measured(peer, self._client.now_us - sent_us)
            self._finish()
            self._client.release(peer, "round trip measured")

    def deadline(self, now_us: int) -> None:
        late = [round_ for round_ in self._rounds if round_.deadline_us <= now_us]
        brokers = sorted(set().union(*(round_.waiting for round_ in late)))
        for round_ in late:
            for broker in round_.waiting:
                round_.rtts[broker] = -1
            round_.waiting = set()
        self._finish()
        for broker in brokers:
            self._client.release(broker, "no answer to probe")

    def _measured(self, broker: str, rtt_us: int) -> None:
        for round_ in self._rounds:
            if broker in round_.waiting:
                round_.waiting.discard(broker)
                round_.rtts[broker] = rtt_us

    def _finish(self) -> None:
        for round_ in [r for r in self._rounds if not r.waiting]:
            self._rounds.remove(round_)
            rtts = tuple(BrokerRtt(broker, round_.rtts[broker]) for broker in sorted(round_.rtts))
            if round_.asker in self._client.connected:
                self._client.send(round_.asker, PingAnswer(round_.advertisement, rtts))
