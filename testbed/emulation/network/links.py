"""Mininet's links and interfaces on top of netlink.

A link is created by the network in one batch with all others, so the constructor makes nothing. Afterwards the
familiar methods work at once: `intf.config(delay="20ms", bw=10)`, `intf.ifconfig("down")`, Mininet's prompt's
`link s1 h1 down`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mininet.link import Link, TCIntf

from testbed.emulation.network import rtnl
from testbed.emulation.network.netlink import Netlink
from testbed.emulation.network.wiring import Interface
from testbed.topology import plan


class PlannedInterface(TCIntf):  # type: ignore[misc]
    planned: Interface | None = None
    socket: Netlink | None = None  # of the namespace it lives in, once it exists
    reshape: Callable[[dict[str, Any]], None] | None = None

    def config(self, **params: Any) -> dict[str, Any]:
        """After the network is up: change the shape of this end (Mininet's names and units)."""
        if self.reshape is not None:
            self.reshape(link_options(params))
        return {}

    def ifconfig(self, *args: Any) -> str:
        if args in (("up",), ("down",)) and self.socket is not None and self.planned is not None:
            self.socket.send([rtnl.set_up(self.planned.index, args[0] == "up", self.name)])
            return ""
        return str(super().ifconfig(*args) or "")

    def delete(self) -> None:
        """Interfaces go with their namespace."""


class PlannedLink(Link):  # type: ignore[misc]
    """Knows its plan; its veth pair is created by the network."""

    def __init__(self, node1: Any, node2: Any, planned: plan.Link | None = None, **params: Any) -> None:
        self.planned = planned
        params["intf"] = PlannedInterface
        super().__init__(node1, node2, **params)

    @classmethod
    def makeIntfPair(cls, *args: Any, **kwargs: Any) -> None:
        pass

    def delete(self) -> None:
        pass

    def stop(self) -> None:
        pass


def link_options(options: dict[str, Any]) -> dict[str, Any]:
    """Mininet's link options (bw in Mbit/s, delay and jitter as text, loss in percent) as a plan's fields."""
    fields: dict[str, Any] = {}
    if options.get("bw"):
        fields["bandwidth_bps"] = round(float(options["bw"]) * 1_000_000)
    if options.get("delay") is not None:
        fields["latency_us"] = microseconds(options["delay"])
    if options.get("jitter") is not None:
        fields["jitter_us"] = microseconds(options["jitter"])
    if options.get("loss"):
        fields["loss"] = float(str(options["loss"]).rstrip("%")) / 100
    if options.get("max_queue_size"):
        fields["queue_packets"] = int(options["max_queue_size"])
    return fields


def microseconds(delay: object) -> int:
    """`5ms`, `0.2s`, `300us`; a bare number is microseconds, as for tc."""
    text = str(delay).strip()
    for unit, factor in (("usecs", 1), ("usec", 1), ("us", 1), ("msecs", 1e3), ("msec", 1e3), ("ms", 1e3)):
        if text.endswith(unit):
            return round(float(text.removesuffix(unit)) * factor)
    for unit in ("secs", "sec", "s"):
        if text.endswith(unit):
            return round(float(text.removesuffix(unit)) * 1e6)
    return round(float(text))
