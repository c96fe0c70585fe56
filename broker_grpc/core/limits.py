"""What a process allows its peers: sizes, queues, patience. Taken by name from a broker's options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

SERVER_GRACE_US = 200_000  # a broker that stops gives the streams it did not dial so long to end
TRIP_PATIENCE_US = 1_000_000  # a measured round trip that takes longer is none: the kernel has asked again
PATIENCE_AT_END_US = 2_000_000  # a stream that is ended gracefully and does not move for so long is cut


class Limits(msgspec.Struct, frozen=True):
    max_message_bytes: int = 1 << 20  # a larger message is refused; four times larger ends its stream
    output_queue_messages: int = 10_000  # per peer; beyond it messages to that peer are dropped
    output_queue_bytes: int = 16 << 20
    redial_min_us: int = 100_000  # first wait after a lost or refused link; doubles up to redial_max_us
    redial_max_us: int = 5_000_000
    hello_timeout_us: int = 5_000_000
    log_flush_us: int = 1_000_000  # a logged event reaches the file within this time
    control_service: bool = False  # status, drain and shutdown over gRPC, for who shows secret or role
    accept_unknown_brokers: bool = False  # links from brokers that the configuration does not name


def limits_from(options: Mapping[str, Any]) -> Limits:
    """The limits among a broker's options; other options are none of this module's business."""
    known = {name: options[name] for name in Limits.__struct_fields__ if name in options}
    return msgspec.convert(known, Limits)
