"""What a broker process is told at its start: who it is, whom it knows, and where its log goes."""

from __future__ import annotations

from typing import Any

import msgspec

from broker_grpc.core.counted import Counting
from broker_grpc.core.options import BrokerOptions, broker_options
from broker_grpc.errors import BrokerError


class Neighbour(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    id: str
    address: str  # ip:port
    dial: bool = False  # this side opens the link


class Tls(msgspec.Struct):
    """Files in PEM form; both sides show a certificate of this authority."""

    ca: str
    cert: str
    key: str


class BrokerProcessConfig(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """All that a broker process needs to know."""

    broker: str
    listen: str  # ip:port
    neighbours: list[Neighbour] = []
    address_book: dict[str, str] = {}  # id: ip:port of brokers that it may link with in the course of the run
    options: dict[str, Any] = {}  # BrokerOptions, by name
    algorithm: dict[str, Any] = {}  # {"name": ..., its parameters}; empty = content-based routing
    seed: int = 0
    events: str = ""  # file of the event log; empty = none
    epoch_offset_us: int = 0  # run clock = CLOCK_MONOTONIC + this
    incarnation: int = 1  # grows with every start of this broker
    sample_every_us: int = 0
    counting: Counting | None = None  # what the event log counts instead of telling it
    tls: Tls | None = None
    control_secret: str = ""  # file with the secret that opens the control service where there is no TLS


def options_of(config: BrokerProcessConfig) -> BrokerOptions:
    """The options of a broker process; raises BrokerError for those it does not know."""
    try:
        options = broker_options(config.options)
    except msgspec.ValidationError as error:
        raise BrokerError(f"its options: {error}") from None
    options.sample_every_us = options.sample_every_us or config.sample_every_us
    return options


def addresses_of(config: BrokerProcessConfig) -> dict[str, str]:
    """Where every broker listens that it may have a link with: neighbours, and those of the address book."""
    known = config.address_book | {neighbour.id: neighbour.address for neighbour in config.neighbours}
    known.pop(config.broker, None)
    return known
