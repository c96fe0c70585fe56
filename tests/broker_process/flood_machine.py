"""The smallest machine that shows the plumbing: publications go to every other peer, requests get answers."""

from __future__ import annotations

import os
import sys
import traceback

import msgspec

from broker_grpc.core.config import BrokerProcessConfig
from broker_grpc.errors import LanguageError, ProtocolError
from broker_grpc.machine import (
    DeadlineReached,
    Effects,
    Log,
    PeerDown,
    PeerUp,
    Received,
    Rejected,
    Send,
    Status,
    Stimulus,
)
from broker_grpc.process.eventloop import run
from broker_grpc.process.process import BrokerProcess
from protos.body import Envelope
from protos.client_messages import Publication, Subscription, Unsubscription
from protos.core_messages import Ack, Hello, Refusal
from protos.records import LogEvent


class FloodMachine:
    settled = True
    waiting = 0
    timeless = frozenset({Publication})
    measures = None

    def __init__(self, tick_us: int = 0) -> None:
        self.peers: dict[str, str] = {}
        self.subscriptions: dict[str, str] = {}
        self.publications = 0
        self.tick_us = tick_us
        self.deadline: int | None = None

    def handle(self, now_us: int, stimulus: Stimulus) -> Effects:
        match stimulus:
            case PeerUp(peer, kind, _):
                self.peers[peer] = kind
                if self.tick_us and self.deadline is None:
                    self.deadline = now_us + self.tick_us
                return [Log(LogEvent(kind="LINK_UP", peer=peer))]
            case PeerDown(peer, reason):
                del self.peers[peer]
                self.subscriptions = {i: p for i, p in self.subscriptions.items() if p != peer}
                return [Log(LogEvent(kind="LINK_DOWN", peer=peer, detail=reason))]
            case Received(peer, envelope):
                return self._received(peer, envelope)
            case Rejected(peer, reason, detail, request):
                event = LogEvent(kind="REFUSED", peer=peer, detail=f"{reason}: {detail}")
                return [Log(event), Send(peer, Envelope(Refusal(reason, detail), 0, request))]
            case DeadlineReached():
                assert self.deadline is not None
                assert self.deadline <= now_us
                late, self.deadline = now_us - self.deadline, now_us + self.tick_us
                return [Log(LogEvent(kind="SAMPLED", duration_us=late))]
        raise AssertionError(stimulus)

    def _received(self, peer: str, envelope: Envelope) -> Effects:
        body = envelope.body
        if isinstance(body, Publication):
            self.publications += 1
            out = Envelope(body, envelope.hops + 1, 0, envelope.version)
            return [Send(other, out) for other in sorted(self.peers) if other != peer]
        if isinstance(body, Subscription):
            if body.id == "bad":
                raise LanguageError("the machine does not like it")
            self.subscriptions[body.id] = peer
            return [Send(peer, Envelope(Ack(body.id, ""), 0, envelope.request, envelope.version))]
        if isinstance(body, Unsubscription):
            self.subscriptions.pop(body.id, None)
            return [Send(peer, Envelope(Ack(body.id, ""), 0, envelope.request, envelope.version))]
        if isinstance(body, Hello):
            raise ProtocolError("a second hello")
        return []

    def receive(self, now_us: int, peer: str, envelope: Envelope) -> Effects:
        return self.handle(now_us, Received(peer, envelope))

    def next_deadline_us(self) -> int | None:
        return self.deadline

    def farewell(self, now_us: int) -> Effects:
        return []

    def status(self) -> Status:
        return Status(
            broker="",
            incarnation=0,
            settled=self.settled,
            links={peer: True for peer, kind in self.peers.items() if kind == "broker"},
            subscriptions=len(self.subscriptions),
            publications=self.publications,
        )


async def main(data: bytes, control_fd: int) -> int:
    config = msgspec.json.decode(data, type=BrokerProcessConfig)
    machine = FloodMachine(config.options.get("tick_us", 0))
    return await BrokerProcess(config, machine, control_fd).run()


def serve(data: bytes, control_fd: int) -> None:
    """In a forked child: never comes back."""
    code = 1
    try:
        code = run(main(data, control_fd))
    except Exception:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
