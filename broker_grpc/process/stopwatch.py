"""Matching and sending times measured by the clock, for brokers without a service model in real time.

Input utilisation is the incoming rate x the measured matching time, output utilisation the bytes sent / the
bandwidth that the options give, exactly as with the model; only where the times come from differs. The time
a message waits inside gRPC before we see it cannot be measured here: input queueing stays 0.
"""

from __future__ import annotations

import time

from broker_grpc.core.service import Monitor
from broker_grpc.machine import Effects, Log, Machine, Received
from broker_grpc.protocols.contentbased.broker import Broker
from broker_grpc.protocols.topicconnected.node import OverlayNode


class Stopwatch:
    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor

    def matching(self, machine: Machine, now_us: int, stimulus: Received) -> Effects:
        """Let the machine handle a publication, and write the time it took into its PROCESSED event."""
        start = time.perf_counter_ns()
        effects = machine.handle(now_us, stimulus)
        took_us = max(1, (time.perf_counter_ns() - start) // 1000)
        self._monitor.arrivals += 1
        self._monitor.observe_input(0, took_us)
        for effect in effects:
            if effect.__class__ is Log and effect.event.kind == "PROCESSED":
                effect.event.matching_us = took_us
                break
        return effects

    def sent(self, peer: str, size: int, waited_us: int) -> None:
        self._monitor.bytes_sent += size
        self._monitor.observe_output(peer, waited_us)


def stopwatch_for(machine: Machine) -> Stopwatch | None:
    """None when the machine models its own times, or has none."""
    if isinstance(machine, Broker | OverlayNode) and not machine.options.has_service_model:
        return Stopwatch(machine.monitor)
    return None
