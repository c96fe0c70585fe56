"""What the controller's process is told at its start (a JSON file beside its output)."""

from __future__ import annotations

import msgspec

from testbed.topology.plan import Network


class SwitchPorts(msgspec.Struct):
    dpid: int
    ports: dict[str, str]  # interface name -> link id
    peers: dict[str, str]  # interface name -> node at the other end


class ControllerConfig(msgspec.Struct):
    network: Network
    addresses: dict[str, str]  # host -> IPv4
    switches: dict[str, SwitchPorts]
    listen: str  # address:port
    ports_file: str
    flows_file: str
    epoch_offset_us: int
    poll_every_us: int = 10_000_000  # 0 = only at the end
