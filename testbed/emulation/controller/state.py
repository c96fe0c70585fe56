"""What the controller decides, without OpenFlow: who is connected, which links are up, which flows follow.

Fed with what switches report; answers the flows each switch should have. Pure, so that re-routing is tested
without a switch.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from testbed.emulation.controller.config import ControllerConfig
from testbed.emulation.controller.routes import NextLinks, next_links

Flows = dict[str, int]  # destination host -> port number


@dataclass
class ControlState:
    config: ControllerConfig
    by_dpid: dict[int, str] = field(init=False)
    port_numbers: dict[str, dict[str, int]] = field(default_factory=dict)  # switch -> link -> port
    port_down: set[tuple[str, str]] = field(default_factory=set)  # (switch, link)
    installed: dict[str, Flows] = field(default_factory=dict)
    _tables: dict[frozenset[str], NextLinks] = field(default_factory=dict)  # by links that are down

    def __post_init__(self) -> None:
        self.by_dpid = {switch.dpid: name for name, switch in self.config.switches.items()}

    def switch_joined(self, dpid: int, ports: dict[str, tuple[int, bool]]) -> str | None:
        """A switch said which ports (name -> number, up) it has; None when it is none of ours."""
        switch = self.by_dpid.get(dpid)
        if switch is None:
            return None
        planned = self.config.switches[switch].ports
        self.port_numbers[switch] = {
            planned[name]: number for name, (number, _up) in ports.items() if name in planned
        }
        self.installed[switch] = {}
        for name, (_number, up) in ports.items():
            if name in planned:
                self._note(switch, planned[name], up)
        return switch

    def port_changed(self, dpid: int, name: str, up: bool) -> bool:
        """True when this takes a link away or brings one back, so that flows may change."""
        switch = self.by_dpid.get(dpid)
        link = self.config.switches[switch].ports.get(name) if switch is not None else None
        if switch is None or link is None:
            return False
        before = self.down
        self._note(switch, link, up)
        return self.down != before

    def switch_left(self, dpid: int) -> None:
        """Its flows stay in it and go on forwarding; they are installed anew when it comes back."""
        switch = self.by_dpid.get(dpid)
        if switch is not None:
            self.installed.pop(switch, None)

    @property
    def down(self) -> frozenset[str]:
        return frozenset(link for _switch, link in self.port_down)

    @property
    def tables(self) -> NextLinks:
        """Routes over the links that are up; computed once for each set of links that are down."""
        if self.down not in self._tables:
            self._tables[self.down] = next_links(self.config.network, self.down, switches_only=True)
        return self._tables[self.down]

    @property
    def complete(self) -> bool:
        return len(self.installed) == len(self.config.switches)

    def changes(self, switch: str) -> tuple[Flows, list[str]]:
        """Flows to set and destinations to forget, so that the switch follows the present tables."""
        numbers = self.port_numbers[switch]
        table = self.tables[switch]
        wanted = {target: numbers[link] for target, link in table.items() if link in numbers}
        have = self.installed[switch]
        to_set = {target: port for target, port in wanted.items() if have.get(target) != port}
        to_forget = sorted(have.keys() - wanted.keys())
        self.installed[switch] = wanted
        return to_set, to_forget

    def peer_of(self, switch: str, port: int) -> str | None:
        """The node at the other end of a port, or None for a port that no planned link has."""
        planned = self.config.switches[switch]
        numbers = self.port_numbers.get(switch, {})
        return next(
            (peer for name, peer in planned.peers.items() if numbers.get(planned.ports[name]) == port), None
        )

    def _note(self, switch: str, link: str, up: bool) -> None:
        if up:
            self.port_down.discard((switch, link))
        else:
            self.port_down.add((switch, link))
