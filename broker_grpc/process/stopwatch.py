"""Matching and sending times measured by the clock, for brokers without a service model in real time.

Input utilisation is the incoming rate x the measured matching time, output utilisation the bytes sent / the
bandwidth that the options give, exactly as with the model; only where the times come from differs. The time
a message waits inside gRPC before we see it cannot be measured here: input queueing stays 0.
"""

from __future__ import annotations

import time

from broker_grpc.machine import Driven, Effects, Log, Measures, Received


class Stopwatch:
    def __init__(self, measures: Measures) -> None:
        self._measures = measures
        self.sent = measures.sent

    def matching(self, machine: Driven, now_us: int, stimulus: Received) -> Effects:
        """Let the machine handle a publication, and write the time it took into its PROCESSED event."""
        start = time.perf_counter_ns()
        effects = machine.handle(now_us, stimulus)
        took_us = max(1, (time.perf_counter_ns() - start) // 1000)
        self._measures.handled(took_us)
        for effect in effects:
            if effect.__class__ is Log and effect.event.kind == "PROCESSED":
                effect.event.matching_us = took_us
                break
        return effects


def stopwatch_for(measures: Measures | None) -> Stopwatch | None:
    """None when the machine models its own times."""
    return None if measures is None else Stopwatch(measures)
