"""Parameters of a broker: type, unit, default and meaning in one place."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta

from broker_grpc.content.covering import Covering
from broker_grpc.errors import BrokerError

NonNegative = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
MAY_CHANGE = {"may_change": True}  # `set` may change it during a run


class BrokerOptions(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What `options` of a broker in a plan may say."""

    # routing
    subscription_covering: Annotated[Covering, Meta(description="off, lazy or active")] = "off"
    advertisement_covering: Annotated[Covering, Meta(description="off, lazy or active")] = "off"
    conformance: Annotated[
        bool, Meta(description="refuse publications that match no advertisement of their publisher")
    ] = False
    max_hops: Annotated[NonNegative, Meta(description="links a message may cross, 0 = no limit")] = 0
    verify_tree: Annotated[bool, Meta(description="look for a second path whenever a link comes up")] = True
    # limits
    max_predicates: Annotated[Positive, Meta(description="predicates per filter")] = 64
    max_routes_per_client: Annotated[
        Positive, Meta(description="advertisements and subscriptions that one client may hold")
    ] = 100_000
    # limits and patience of the process (broker_grpc.core.limits)
    max_message_bytes: Annotated[Positive, Meta(description="a larger message is refused")] = 1 << 20
    output_queue_messages: Annotated[Positive, Meta(description="waiting per stream; more is dropped")] = (
        10_000
    )
    output_queue_bytes: Annotated[Positive, Meta(description="waiting per stream; more is dropped")] = (
        16 << 20
    )
    redial_min_us: Annotated[Positive, Meta(description="first wait after a lost link; it doubles")] = 100_000
    redial_max_us: Annotated[Positive, Meta(description="longest wait between two dials")] = 5_000_000
    hello_timeout_us: Annotated[Positive, Meta(description="patience for the first message")] = 5_000_000
    log_flush_us: Annotated[Positive, Meta(description="a logged event is in the file by then")] = 1_000_000
    control_service: Annotated[
        bool,
        Meta(description="status, drain, shutdown over gRPC, for who has the secret or role"),
    ] = False
    accept_unknown_brokers: Annotated[bool, Meta(description="links from brokers not configured")] = False
    # heartbeats
    heartbeat_interval_us: Annotated[NonNegative, Meta(description="between two heartbeats, 0 = off")] = 0
    heartbeat_timeout_us: Annotated[Positive, Meta(description="an answer later than this is a miss")] = (
        5_000_000
    )
    heartbeat_threshold: Annotated[Positive, Meta(description="misses in a row that end a link")] = 3
    # link repair
    repair_grace_us: Annotated[
        NonNegative, Meta(description="keep the routes of a lost broker link this long, 0 = withdraw at once")
    ] = 0
    # exchange of links
    exchange_patience_us: Annotated[
        Positive, Meta(description="an exchange of links that has not begun to switch by then is given up")
    ] = 10_000_000
    # service model; all zero = a broker that takes no time
    matching_us: Annotated[
        NonNegative, Meta(description="matching time per publication", extra_json_schema=MAY_CHANGE)
    ] = 0
    matching_per_candidate_us: Annotated[
        NonNegative, Meta(description="and per filter looked at", extra_json_schema=MAY_CHANGE)
    ] = 0
    control_us: Annotated[
        NonNegative, Meta(description="processing time of any other message", extra_json_schema=MAY_CHANGE)
    ] = 0
    internal_messages: Annotated[
        Literal["apart", "matched", "counted"],
        Meta(
            description="those of an algorithm between brokers take control_us (apart), or are matched like "
            "publications, outside or inside the input utilisation (matched, counted)"
        ),
    ] = "apart"
    output_bandwidth: Annotated[
        NonNegative,
        Meta(
            description="bytes per second of the broker's output, 0 = not limited",
            extra_json_schema=MAY_CHANGE,
        ),
    ] = 0
    input_queue: Annotated[
        NonNegative, Meta(description="envelopes waiting for matching; publications beyond are dropped")
    ] = 10_000
    output_queue: Annotated[
        NonNegative, Meta(description="envelopes waiting per peer; publications beyond are dropped")
    ] = 10_000
    # monitor
    sample_every_us: Annotated[NonNegative, Meta(description="between two SAMPLED events, 0 = never")] = 0

    @property
    def has_service_model(self) -> bool:
        return bool(
            self.matching_us or self.matching_per_candidate_us or self.control_us or self.output_bandwidth
        )


@cache
def changeable() -> tuple[str, ...]:
    """Names of the options that may change during a run: each says so of itself."""
    hints = get_type_hints(BrokerOptions, include_extras=True)
    return tuple(
        name
        for name, hint in hints.items()
        if any(getattr(meta, "extra_json_schema", None) == MAY_CHANGE for meta in hint.__metadata__)
    )


def check_changes(options: BrokerOptions, changes: dict[str, Any]) -> None:
    """Raises BrokerError for what a running broker with these options cannot take over."""
    for name in changes:
        if name not in changeable():
            raise BrokerError(f"option {name!r} cannot change during a run; {', '.join(changeable())} can")
    try:
        broker_options(changes)
    except msgspec.ValidationError as error:
        raise BrokerError(str(error)) from None
    if not options.has_service_model:
        raise BrokerError("a broker without a service model from its start cannot get one")


def broker_options(options: dict[str, Any]) -> BrokerOptions:
    """Raises msgspec.ValidationError, which names the field."""
    return msgspec.convert(options, BrokerOptions)
