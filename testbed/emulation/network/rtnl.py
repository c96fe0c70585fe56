"""Requests about interfaces, addresses, neighbours and routes. Pure: they only build `Request`s."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

from testbed.emulation.network.netlink import (
    NLM_F_CREATE,
    NLM_F_EXCL,
    NLM_F_REPLACE,
    Request,
    attribute,
    nested,
    text,
    u32,
)

RTM_NEWLINK, RTM_DELLINK, RTM_NEWADDR, RTM_NEWROUTE, RTM_DELROUTE, RTM_NEWNEIGH = 16, 17, 20, 24, 25, 28
IFLA_ADDRESS, IFLA_IFNAME, IFLA_LINKINFO, IFLA_NET_NS_FD = 1, 3, 18, 28
IFLA_INFO_KIND, IFLA_INFO_DATA, VETH_INFO_PEER = 1, 2, 1
IFA_ADDRESS, IFA_LOCAL = 1, 2
NDA_DST, NDA_LLADDR, NUD_PERMANENT = 1, 2, 0x80
RTA_DST, RTA_OIF = 1, 4
RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_LINK, RTN_UNICAST = 254, 4, 253, 1
IFF_UP = 1
LOOPBACK = 1


@dataclass(frozen=True, slots=True)
class End:
    """One end of a link before it exists: where it will live and what it will be called."""

    name: str
    index: int
    mac: str
    namespace_fd: int


def _interface(index: int, flags: int = 0, change: int = 0) -> bytes:
    return struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, flags, change)


def _mac(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))


def _end(end: End) -> bytes:
    names = text(IFLA_IFNAME, end.name) + attribute(IFLA_ADDRESS, _mac(end.mac))
    return names + u32(IFLA_NET_NS_FD, end.namespace_fd)


def veth(one: End, other: End) -> Request:
    """A cable: both ends made in their namespaces, named and addressed, by one request.

    They are down: the kernel cannot open an end before the other exists.
    """
    peer = nested(VETH_INFO_PEER, _interface(other.index) + _end(other))
    info = nested(IFLA_LINKINFO, text(IFLA_INFO_KIND, "veth"), nested(IFLA_INFO_DATA, peer))
    body = _interface(one.index) + _end(one) + info
    return Request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, body, f"create link {one.name} - {other.name}")


def set_up(index: int, up: bool, name: str) -> Request:
    body = _interface(index, IFF_UP if up else 0, IFF_UP)
    return Request(RTM_NEWLINK, 0, body, f"set interface {name} {'up' if up else 'down'}")


def address(index: int, ip: str, prefix: int) -> Request:
    packed = socket.inet_aton(ip)
    body = struct.pack("=BBBBI", socket.AF_INET, prefix, 0, 0, index)
    body += attribute(IFA_LOCAL, packed) + attribute(IFA_ADDRESS, packed)
    return Request(
        RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, body, f"give interface {index} address {ip}/{prefix}"
    )


def neighbour(index: int, ip: str, mac: str) -> Request:
    body = struct.pack("=BxxxiHBB", socket.AF_INET, index, NUD_PERMANENT, 0, 0)
    body += attribute(NDA_DST, socket.inet_aton(ip)) + attribute(NDA_LLADDR, _mac(mac))
    return Request(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, body, f"static ARP {ip} is {mac}")


def host_route(index: int, ip: str) -> Request:
    """Packets for `ip` leave by this interface (needed on hosts with more than one)."""
    body = _route(32) + attribute(RTA_DST, socket.inet_aton(ip)) + u32(RTA_OIF, index)
    return Request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, body, f"route to {ip} by interface {index}")


def no_host_route(ip: str) -> Request:
    body = _route(32) + attribute(RTA_DST, socket.inet_aton(ip))
    return Request(RTM_DELROUTE, 0, body, f"remove route to {ip}", ignore=(3,))  # ESRCH: there is none


def _route(prefix: int) -> bytes:
    family = struct.pack("=BBBB", socket.AF_INET, prefix, 0, 0)
    return family + struct.pack("=BBBBI", RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_LINK, RTN_UNICAST, 0)
