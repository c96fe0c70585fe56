"""Settings of the guest's kernel: name, loopback, random numbers, write-back, limits, modules."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import resource
import socket
import struct
import subprocess

from testbed.emulation.guest.inside import libc

SIOCSIFFLAGS, IFF_UP_RUNNING = 0x8914, 0x41
RNDADDENTROPY = 0x40085203
OPEN_FILES = 1_048_576
# Written files reach the host within a second of guest time, not half a minute: a killed guest loses little.
# Out of memory, the process that wants more ends: in virtual time it would else wait for another one to end,
# which gets no turn as long as this one is busy waiting.
SETTINGS = {
    "vm/oom_kill_allocating_task": "1",
    "vm/dirty_expire_centisecs": "100",
    "vm/dirty_writeback_centisecs": "100",
    "net/ipv4/ping_group_range": "0 2147483647",
}
# How late the kernel may end a wait to save power (50 us by default). Every process of the guest inherits it.
TIMER_SLACK_NS = "1"
# Only a distribution's prebuilt kernel has its drivers as modules; ours has none.
MODULES_FOLDER = "/usr/lib/uml/modules"
MODULES = (
    "veth", "tun", "ifb", "bridge", "openvswitch", "sch_htb", "sch_netem", "sch_tbf", "sch_ingress",
    "sch_fq_codel", "cls_u32", "cls_matchall", "cls_flower", "act_mirred", "af_packet",
)  # fmt: skip


def configure(hostname: str, seed: int | None) -> None:
    """Make the machine ready. `seed` makes its random numbers the same in every run."""
    libc.set_hostname(hostname)
    _loopback_up()
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    for name, value in SETTINGS.items():
        with contextlib.suppress(OSError), open(f"/proc/sys/{name}", "w") as file:
            file.write(value)
    with contextlib.suppress(OSError), open("/proc/self/timerslack_ns", "w") as file:
        file.write(TIMER_SLACK_NS)
    if seed is not None:
        _seed_random(seed)
    _load_modules()


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP_RUNNING))


def _seed_random(seed: int) -> None:
    """Our kernel takes no entropy from the host in virtual time: this is all it gets."""
    pool = hashlib.sha512(f"testbed guest {seed}".encode()).digest()
    with open("/dev/urandom", "wb", buffering=0) as device:
        fcntl.ioctl(device, RNDADDENTROPY, struct.pack("ii", len(pool) * 8, len(pool)) + pool)


def _load_modules() -> None:
    release = os.uname().release
    if not os.path.isdir(f"{MODULES_FOLDER}/{release}"):
        return
    os.makedirs("/run/modules/lib/modules")
    os.symlink(f"{MODULES_FOLDER}/{release}", f"/run/modules/lib/modules/{release}")
    subprocess.run(["modprobe", "-d", "/run/modules", "-a", *MODULES], check=False)
