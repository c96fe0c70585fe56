"""Parameters of POP and GRAPE, with the paper's defaults."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from broker_grpc.errors import BrokerError


class PopSettings(msgspec.Struct, forbid_unknown_fields=True, tag_field="name", tag="pop"):
    traced_per_window: Annotated[int, Meta(ge=1, description="N: publications traced per window")] = 50
    window_us: Annotated[int, Meta(ge=1, description="W")] = 60_000_000
    threshold: Annotated[int, Meta(ge=1, description="P_threshold: traces before a selection")] = 100
    newest_weight: Annotated[float, Meta(gt=0, le=1, description="of the running average")] = 0.25
    trace_timeout_us: Annotated[int, Meta(ge=1, description="a lost trace result counts as zero")] = (
        30_000_000
    )


class GrapeSettings(msgspec.Struct, forbid_unknown_fields=True, tag_field="name", tag="grape"):
    threshold: Annotated[int, Meta(ge=1, description="G_threshold: publications per trace session")] = 100
    prioritise: Annotated[Literal["load", "delay"], Meta(description="metric to minimise first")] = "load"
    weight: Annotated[int, Meta(ge=0, le=100, description="P, in percent")] = 100
    answer_timeout_us: Annotated[int, Meta(ge=1, description="patience for trace and ping answers")] = (
        30_000_000
    )


Settings = PopSettings | GrapeSettings


def settings(algorithm: dict[str, Any]) -> Settings | None:
    """From a plan's `algorithm`; None for plain routing. Raises BrokerError that names the field."""
    if not algorithm:
        return None
    try:
        chosen: Settings = msgspec.convert(algorithm, Settings)
    except msgspec.ValidationError as error:
        raise BrokerError(f"algorithm {algorithm.get('name')!r}: {error}") from None
    return chosen
