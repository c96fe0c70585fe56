"""The Ryu application: proactive shortest-path flows, re-routing, counters. No packet ever comes to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from protos.records import FlowCounter, PortCounter
from testbed.emulation.controller.config import ControllerConfig
from testbed.emulation.controller.counters import CounterFiles
from testbed.emulation.controller.platform import (
    CONFIG_DISPATCHER,
    DEAD_DISPATCHER,
    MAIN_DISPATCHER,
    app_manager,
    hub,
    ofp_event,
    ofproto_v1_3,
    set_ev_cls,
)
from testbed.emulation.controller.state import ControlState

PRIORITY = 100
POLL_SECONDS = 20.0  # for all switches
LOCAL_PORTS = 0xFFFFFF00  # numbers from here on are reserved by OpenFlow


class ShortestPaths(app_manager.RyuApp):  # type: ignore[misc]
    OFP_VERSIONS = (ofproto_v1_3.OFP_VERSION,)

    # Set before the application is instantiated: Ryu makes the object itself.
    config: ControllerConfig
    report: Callable[[dict[str, Any]], None]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.state = ControlState(self.config)
        self.files = CounterFiles(Path(self.config.ports_file), Path(self.config.flows_file))
        self.datapaths: dict[str, Any] = {}
        self.unconfirmed: dict[int, str] = {}  # barrier transaction -> switch
        self.targets = list(self.config.addresses)  # a flow's cookie is its target's place, from 1
        self.cookies = {target: place for place, target in enumerate(self.targets, 1)}
        self.awaited: set[str] = set()  # multipart replies of the switch that is being asked
        self.polled = hub.Event()
        self.was_ready = False
        self.rerouting = False

    def now_us(self) -> int:
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1_000 + self.config.epoch_offset_us

    # Switches and their ports

    @set_ev_cls(ofp_event.EventOFPPortDescStatsReply, [CONFIG_DISPATCHER, MAIN_DISPATCHER])  # type: ignore[untyped-decorator]
    def on_ports(self, event: Any) -> None:
        """Ryu asks every new switch for its ports as part of the handshake."""
        datapath = event.msg.datapath
        ports = {_name(port): (port.port_no, _is_up(datapath, port)) for port in event.msg.body}
        switch = self.state.switch_joined(datapath.id, ports)
        if switch is None:
            self.logger.warning("switch %016x is not in the plan", datapath.id)
            return
        self.datapaths[switch] = datapath
        self._install([switch])

    @set_ev_cls(ofp_event.EventOFPPortStatus, [CONFIG_DISPATCHER, MAIN_DISPATCHER])  # type: ignore[untyped-decorator]
    def on_port_status(self, event: Any) -> None:
        message = event.msg
        datapath = message.datapath
        gone = message.reason == datapath.ofproto.OFPPR_DELETE
        up = not gone and _is_up(datapath, message.desc)
        if self.state.port_changed(datapath.id, _name(message.desc), up) and not self.rerouting:
            self.rerouting = True
            hub.spawn(self._reroute)

    def _reroute(self) -> None:
        """Runs when the events at hand are handled: a failing switch reports all its ports at once."""
        self.rerouting = False
        self._install(sorted(self.datapaths))

    @set_ev_cls(ofp_event.EventOFPStateChange, DEAD_DISPATCHER)  # type: ignore[untyped-decorator]
    def on_gone(self, event: Any) -> None:
        if event.datapath.id is not None:
            self.state.switch_left(event.datapath.id)

    # Flows

    def _install(self, switches: list[str]) -> None:
        for switch in switches:
            if switch not in self.state.installed:
                continue
            datapath = self.datapaths[switch]
            to_set, to_forget = self.state.changes(switch)
            for target in to_forget:
                self._flow(datapath, target, None)
            for target, port in to_set.items():
                self._flow(datapath, target, port)
            barrier = datapath.ofproto_parser.OFPBarrierRequest(datapath)
            datapath.set_xid(barrier)
            self.unconfirmed[barrier.xid] = switch
            datapath.send_msg(barrier)

    def _flow(self, datapath: Any, target: str, port: int | None) -> None:
        """Send what is for `target` out of `port`; without a port, forget the flow."""
        parser, protocol = datapath.ofproto_parser, datapath.ofproto
        match = parser.OFPMatch(eth_type=0x0800, ipv4_dst=self.config.addresses[target])
        if port is None:
            message = parser.OFPFlowMod(
                datapath,
                command=protocol.OFPFC_DELETE_STRICT,
                priority=PRIORITY,
                match=match,
                out_port=protocol.OFPP_ANY,
                out_group=protocol.OFPG_ANY,
            )
        else:
            apply = parser.OFPInstructionActions(protocol.OFPIT_APPLY_ACTIONS, [parser.OFPActionOutput(port)])
            message = parser.OFPFlowMod(
                datapath, cookie=self.cookies[target], priority=PRIORITY, match=match, instructions=[apply]
            )
        datapath.send_msg(message)

    @set_ev_cls(ofp_event.EventOFPBarrierReply, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def on_barrier(self, event: Any) -> None:
        self.unconfirmed.pop(event.msg.xid, None)
        if self.state.complete and not self.unconfirmed and not self.rerouting:
            what = "settled" if self.was_ready else "ready"
            self.report({"event": what, "t_us": self.now_us(), "down": sorted(self.state.down)})
            self.was_ready = True

    # Counters

    def poll(self) -> None:
        """Ask every connected switch for its counters and wait for the answers.

        One after the other: flows grow with switches times hosts, and Ryu makes several objects of each.
        """
        end = time.monotonic() + POLL_SECONDS
        for switch in sorted(self.datapaths):
            if switch in self.state.installed:
                self._poll(switch, self.datapaths[switch], max(0.0, end - time.monotonic()))

    def _poll(self, switch: str, datapath: Any, seconds: float) -> None:
        self.awaited = {f"{kind}:{switch}" for kind in ("ports", "flows")}
        self.polled.clear()
        parser, protocol = datapath.ofproto_parser, datapath.ofproto
        datapath.send_msg(parser.OFPPortStatsRequest(datapath, 0, protocol.OFPP_ANY))
        datapath.send_msg(parser.OFPFlowStatsRequest(datapath))
        self.polled.wait(timeout=seconds)

    @set_ev_cls(ofp_event.EventOFPPortStatsReply, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def on_port_stats(self, event: Any) -> None:
        now = self.now_us()
        switch = self.state.by_dpid[event.msg.datapath.id]
        rows = []
        for port in event.msg.body:
            peer = self.state.peer_of(switch, port.port_no)
            if port.port_no < LOCAL_PORTS and peer is not None:
                rows.append(_port_counter(now, switch, peer, port))
        self.files.ports(rows)
        self._answered(event.msg, f"ports:{switch}")

    @set_ev_cls(ofp_event.EventOFPFlowStatsReply, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def on_flow_stats(self, event: Any) -> None:
        now = self.now_us()
        switch = self.state.by_dpid[event.msg.datapath.id]
        self.files.flows(
            FlowCounter(
                now,
                switch,
                self.targets[flow.cookie - 1],
                flow.packet_count,
                flow.byte_count,
                self.state.peer_of(switch, _out_port(flow)) or "",
            )
            for flow in event.msg.body
            if 0 < flow.cookie <= len(self.targets)
        )
        self._answered(event.msg, f"flows:{switch}")

    def _answered(self, message: Any, what: str) -> None:
        if message.flags & message.datapath.ofproto.OFPMPF_REPLY_MORE:
            return
        self.awaited.discard(what)
        if not self.awaited:
            self.polled.set()


def _name(port: Any) -> str:
    name: bytes = port.name
    return name.rstrip(b"\0").decode()


def _out_port(flow: Any) -> int:
    """As the switch says it, not as it was told: a re-routed flow is counted where it now leads."""
    return next((action.port for order in flow.instructions for action in order.actions), 0)


def _is_up(datapath: Any, port: Any) -> bool:
    protocol = datapath.ofproto
    return not (port.state & protocol.OFPPS_LINK_DOWN or port.config & protocol.OFPPC_PORT_DOWN)


def _port_counter(now: int, switch: str, peer: str, port: Any) -> PortCounter:
    return PortCounter(
        t_us=now,
        node=switch,
        peer=peer,
        rx_packets=port.rx_packets,
        rx_bytes=port.rx_bytes,
        tx_packets=port.tx_packets,
        tx_bytes=port.tx_bytes,
        rx_dropped=port.rx_dropped,
        tx_dropped=port.tx_dropped,
    )
