"""Switching segmentation offloads off, by ioctl.

With offloads on, a veth carries 64 kB super-packets: netem would delay and lose them as one, and a capture
would show packets no real link could carry.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
from collections.abc import Iterable

SIOCETHTOOL = 0x8946
SET_TSO, SET_GSO, SET_GRO = 0x1F, 0x24, 0x2C


def switch_off(interfaces: Iterable[str]) -> None:
    """For interfaces of the network namespace the caller is in."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        for name in interfaces:
            for command in (SET_TSO, SET_GSO, SET_GRO):
                value = ctypes.create_string_buffer(struct.pack("=II", command, 0), 8)
                request = struct.pack("16sP16x", name.encode(), ctypes.addressof(value))
                fcntl.ioctl(handle, SIOCETHTOOL, request)
