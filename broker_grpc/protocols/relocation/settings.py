"""Parameters of POP and GRAPE, with the paper's defaults."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from broker_grpc.core.parameters import Microseconds, Percent


class PopSettings(msgspec.Struct, forbid_unknown_fields=True):
    traced_per_window: Annotated[int, Meta(ge=1, description="N: publications traced per window")] = 50
    window_us: Annotated[Microseconds, Meta(ge=1, description="W")] = 60_000_000
    threshold: Annotated[int, Meta(ge=1, description="P_threshold: traces before a selection")] = 100
    newest_weight: Annotated[float, Meta(gt=0, le=1, description="of the running average")] = 0.25
    absent: Annotated[
        Literal["zero", "unchanged"],
        Meta(description="row of a link that a traced publication did not go down: it averages in a zero"),
    ] = "zero"
    late_row: Annotated[
        Literal["whole", "weighted"],
        Meta(
            description="row first seen after others: its first value, or the average of it and zeros before"
        ),
    ] = "whole"
    trace_timeout_us: Annotated[
        Microseconds, Meta(ge=1, description="a lost trace result counts as zero")
    ] = 30_000_000


class GrapeSettings(msgspec.Struct, forbid_unknown_fields=True):
    threshold: Annotated[int, Meta(ge=1, description="G_threshold: publications per trace session")] = 100
    prioritise: Annotated[Literal["load", "delay"], Meta(description="metric to minimise first")] = "load"
    weight: Annotated[Percent, Meta(description="P")] = 100
    link_latency: Annotated[
        bool,
        Meta(description="an output delay contains the link's latency, which heartbeats measure"),
    ] = False
    ping: Annotated[
        Literal["half", "whole"], Meta(description="of a round trip, in the estimate of a delay")
    ] = "half"
    own_candidate: Annotated[bool, Meta(description="the publisher's own broker is a candidate")] = True
    answer_timeout_us: Annotated[
        Microseconds, Meta(ge=1, description="patience for trace and ping answers")
    ] = 30_000_000
