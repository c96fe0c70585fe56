"""Mininet's links and interfaces on top of netlink.

A link is created by the network in one batch with all others, so the constructor makes nothing. Afterwards
the familiar methods work at once: `intf.config(delay="20ms", bw=10)`, `intf.ifconfig("down")`, and
`link s1 h1 down` at Mininet's prompt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mininet.link import Link, TCIntf

from testbed.topology import plan


class PlannedInterface(TCIntf):  # type: ignore[misc]
    reshape: Callable[[dict[str, Any]], None] | None = None  # set once the network is up
    set_link: Callable[[bool], None] | None = None

    def config(self, **params: Any) -> dict[str, Any]:
        """After the network is up: change the shape of this end (Mininet's names and units)."""
        if self.reshape is not None:
            self.reshape(link_options(params))
        return {}

    def ifconfig(self, *args: Any) -> str:
        """`up` and `down` mend and cut the link: a host's end set down would forget its ARP entries."""
        if args in (("up",), ("down",)) and self.set_link is not None:
            self.set_link(args == ("up",))
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
    from testbed.topology.file.quantities import LATENCY, parse  # heavy, and rarely wanted in a guest

    fields: dict[str, Any] = {}
    if options.get("bw"):
        fields["bandwidth_bps"] = round(float(options["bw"]) * 1_000_000)
    if options.get("delay") is not None:
        fields["latency_us"] = int(parse(options["delay"], LATENCY))
    if options.get("jitter") is not None:
        fields["jitter_us"] = int(parse(options["jitter"], LATENCY))
    if options.get("loss") is not None:
        fields["loss"] = float(options["loss"]) / 100
    if options.get("max_queue_size"):
        fields["queue_packets"] = int(options["max_queue_size"])
    return fields
