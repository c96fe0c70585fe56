"""The `Mininet` object of a deployment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.util import numCores

from testbed.emulation.network.fabric import SWITCHES, Fabric
from testbed.emulation.network.links import PlannedInterface, PlannedLink
from testbed.emulation.network.nodes import BatchedSwitch, NamespaceHost, PlannedController
from testbed.emulation.network.topo import PlanTopo
from testbed.topology.plan import Network


@dataclass(frozen=True)
class Hooks:
    """What the Mininet object asks of the emulated network around it."""

    bring_up: Callable[[], None]
    take_down: Callable[[], None]
    reshape: Callable[[str, dict[str, Any]], None]  # link, fields of its plan
    set_link: Callable[[str, bool], None]


class BatchedMininet(Mininet):  # type: ignore[misc]
    """A real Mininet whose nodes and links exist on paper until `start` brings all of them up in batches."""

    def __init__(
        self,
        network: Network,
        fabric: Fabric,
        dpids: dict[str, int],
        hooks: Hooks,
    ) -> None:
        setLogLevel("warning")
        numCores.ncores = 1  # spares a process; only CPU-limited hosts ask
        self._hooks = hooks
        self.fabric = fabric
        super().__init__(
            topo=PlanTopo(network, fabric.wiring, dpids),
            host=NamespaceHost,
            switch=BatchedSwitch,
            link=PlannedLink,
            controller=PlannedController,
            build=False,
        )

    def configHosts(self) -> None:
        """Tell the objects what the plan says; the kernel hears of it in `start`."""
        for host in self.hosts:
            for interface in host.intfList():
                interface.ip, interface.prefixLen = host.params.get("ip"), self.fabric.prefix or 32

    def start(self) -> None:
        if not self.built:
            self.build()
        self._hooks.bring_up()

    def came_up(self, environment: dict[str, str]) -> None:
        """From now on commands on nodes and interfaces do what they say."""
        for node in (*self.hosts, *self.switches, *self.controllers):
            place = node.name if node in self.hosts else SWITCHES
            node.namespace = self.fabric.namespaces[place]
            node.shell_environment = environment
            node.is_up = True
        for link in self.links:
            for interface in (link.intf1, link.intf2):
                self._attach(interface, link.planned.id)

    def _attach(self, interface: PlannedInterface, link_id: str) -> None:
        interface.reshape = lambda fields: self._hooks.reshape(link_id, fields)
        interface.set_link = lambda up: self._hooks.set_link(link_id, up)

    def stop(self) -> None:
        for node in (*self.controllers, *self.switches, *self.hosts):
            node.terminate()
        self._hooks.take_down()
