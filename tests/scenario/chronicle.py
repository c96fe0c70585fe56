"""What the machines of a network say, as lines: messages when they are sent, changes of state when logged."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

from broker_grpc.machine import CloseLink, Log, OpenLink
from protos.body import Body, Envelope
from protos.client_messages import Advertisement, Publication, Subscription, Unsubscription
from protos.dynatops_messages import LogicalTopic
from protos.exchange_messages import AdvertisedRoute, SubscribedRoute
from protos.records import LogEvent
from protos.relocation_messages import BrokerRtt, BrokerTrace
from tests.scenario.ordered_network import OrderedNetwork

# Of single messages, which are told when they are sent.
OF_MESSAGES = {"SENT", "RECEIVED", "PROCESSED", "FORWARDED", "NOTIFIED", "PUBLISHED", "DELIVERED"}
# What a story does not need: times and sizes, the number of a line, and whose it is.
UNTOLD = {"t_us", "n", "node", "kind", "bytes", "published_us", "hops", "content", "duration_us"}
OF_WIRE = {"wire", "wire_size", "epoch"}
WIDTH = 22
MEASURED = re.compile(r" ?\w+_us=\d+")  # times within a text


@dataclass
class Line:
    who: str
    to: list[str]  # nobody, for a change of state
    kind: str
    about: list[str]

    def text(self) -> str:
        who = " ".join([self.who, "->", *_short(self.to)]) if self.to else self.who
        return f"{who:<{WIDTH}} {' '.join([self.kind, *filter(None, self.about)])}"


class Chronicle:
    """Collects lines. One message to several peers is one line, and so are several filters to one peer."""

    def __init__(self, net: OrderedNetwork, untold: frozenset[str] = frozenset()) -> None:
        self._lines: list[Line] = []
        self._untold = untold  # types of messages
        self.sent: list[str] = []  # types, since the beginning
        net.on_send = self._sent
        net.on_effect = self._done

    def take(self) -> list[str]:
        """What was said since the last time."""
        lines = [line.text() for line in self._lines]
        self._lines.clear()
        return lines

    def _sent(self, source: str, target: str, envelope: Envelope) -> None:
        body, about = envelope.body, [detail(envelope.body)]
        self.sent.append(body.type)
        if body.type in self._untold:
            return
        last = self._lines[-1] if self._lines else Line("", [], "", [])
        if (last.who, last.kind, last.about) == (source, body.type, about) and last.to:
            last.to.append(target)
        elif isinstance(body, Subscription | Unsubscription) and (last.who, last.to, last.kind) == (
            source,
            [target],
            body.type,
        ):
            last.about += about
        else:
            self._lines.append(Line(source, [target], body.type, about))

    def _done(self, node: str, effect: object) -> None:
        if isinstance(effect, Log) and effect.event.kind not in OF_MESSAGES:
            event = effect.event
            self._lines.append(Line(event.node or node, [], event.kind, [fields_of(event, UNTOLD)]))
        elif isinstance(effect, OpenLink):
            self._lines.append(Line(node, [], "dials", [effect.peer]))
        elif isinstance(effect, CloseLink):
            self._lines.append(Line(node, [], "hangs up on", [effect.peer]))


def _short(names: list[str]) -> list[str]:
    """Subscribers B6.1, B6.2 ... B6.7 that stand together are B6.1-7."""
    out = []
    for stem, group in groupby(names, lambda name: name.partition(".")[0] if "." in name else ""):
        found = list(group)
        out += found if not stem or len(found) == 1 else [f"{found[0]}-{found[-1].partition('.')[2]}"]
    return out


def detail(body: Body) -> str:
    if isinstance(body, Publication | Subscription | Unsubscription | Advertisement):
        return body.id
    return fields_of(body, OF_WIRE)


def fields_of(record: Body | LogEvent, without: set[str]) -> str:
    names = [name for name in record.__struct_fields__ if name not in without and getattr(record, name)]
    return " ".join(f"{name}={value(getattr(record, name))}" for name in names)


def value(given: object) -> str:
    match given:
        case tuple() | list():
            return ",".join(map(value, given))
        case Advertisement() | Subscription():
            return given.id
        case AdvertisedRoute():
            return value(given.advertisement)
        case SubscribedRoute():
            return value(given.subscription)
        case LogicalTopic():
            return given.topic
        case BrokerTrace():
            return f"{given.broker}:{given.deliveries}"
        case BrokerRtt():
            return f"{given.broker}:{given.rtt_us // 1000}ms"
        case float():
            return f"{given:g}"
    return MEASURED.sub("", str(given))
