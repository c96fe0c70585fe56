"""The guest's file systems.

The root is the host's, with the rights of the user who booted the guest. What a machine must have for itself
is private and in memory: devices, processes, sockets, locks, temporary files, Open vSwitch's folders.
Everything else (the project, the Python environment, the results) is the host's own and stays.
"""

from __future__ import annotations

import contextlib
import os

from testbed.emulation.guest.inside import libc

CONTROL = "/run/testbed"
# Resolved by the host: the working directory of the guest's process is the control folder. (A path here would
# make two runs of one experiment differ in their kernel command lines.)
CONTROL_ON_HOST = "/proc/self/cwd"

KERNEL_VIEWS = (("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"))
# (folder, options): made where they can be, mounted where they exist.
PRIVATE = (
    ("/run", "mode=755"),
    ("/tmp", "mode=1777"),
    ("/dev/shm", "mode=1777"),
    ("/var/log/openvswitch", "mode=755"),
    ("/var/lib/openvswitch", "mode=755"),
    ("/etc/openvswitch", "mode=755"),
)
# What gRPC's Abseil asks before it measures the processor's time stamp counter against the clock. In virtual
# time the two never agree, and it tries for 255 ms, asleep, in the first thread that has to wait for a lock.
PROCESSOR = "/sys/devices/system/cpu/cpu0"
FREQUENCY_KHZ = 1_000_000
CGROUP_CONTROLLERS = ("cpu,cpuacct", "memory", "pids", "freezer", "devices")


def mount_all() -> None:
    """Mount everything that is private to the guest, and the control folder."""
    libc.mount("none", "/", "", flags=libc.MS_REC | libc.MS_PRIVATE)
    for kind, folder in KERNEL_VIEWS:
        if not os.path.exists(f"{folder}/null") and not os.path.ismount(folder):
            libc.mount(kind, folder, kind)
    _mount_devices()
    for folder, options in PRIVATE:
        if os.path.isdir(folder):
            libc.mount("tmpfs", folder, "tmpfs", options)
    os.makedirs("/run/lock", exist_ok=True)
    os.makedirs(CONTROL)
    libc.mount("none", CONTROL, "hostfs", CONTROL_ON_HOST)
    _mount_cgroups()
    _tell_frequency()


def _mount_devices() -> None:
    for folder in ("/dev/pts", "/dev/shm", "/dev/mqueue", "/dev/net"):
        os.makedirs(folder, exist_ok=True)
    libc.mount("devpts", "/dev/pts", "devpts", "ptmxmode=666,mode=620,gid=5")
    with contextlib.suppress(OSError):
        libc.mount("mqueue", "/dev/mqueue", "mqueue")
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        if not os.path.lexists(f"/dev/{name}"):
            os.symlink(target, f"/dev/{name}")


def _mount_cgroups() -> None:
    """Version 1 controllers, where Mininet's CPU-limited hosts look for them."""
    if not os.path.isdir("/sys/fs/cgroup"):
        return
    libc.mount("tmpfs", "/sys/fs/cgroup", "tmpfs", "mode=755")
    with open("/proc/cgroups", encoding="ascii") as file:
        known = {line.split()[0] for line in file}
    for controllers in CGROUP_CONTROLLERS:
        if not known.issuperset(controllers.split(",")):
            continue
        folder = f"/sys/fs/cgroup/{controllers}"
        os.mkdir(folder)
        try:
            libc.mount("cgroup", folder, "cgroup", controllers)
        except OSError:
            os.rmdir(folder)
    for alias in ("cpu", "cpuacct"):
        if os.path.isdir("/sys/fs/cgroup/cpu,cpuacct"):
            os.symlink("cpu,cpuacct", f"/sys/fs/cgroup/{alias}")


def _tell_frequency() -> None:
    """A file that some kernels have and this one does not, laid over its view of the processor."""
    if not os.path.isdir(PROCESSOR) or os.path.exists(f"{PROCESSOR}/tsc_freq_khz"):
        return
    upper, work = "/run/processor/upper", "/run/processor/work"
    for folder in (upper, work):
        os.makedirs(folder)
    with open(f"{upper}/tsc_freq_khz", "w", encoding="ascii") as file:
        file.write(f"{FREQUENCY_KHZ}\n")
    layers = f"lowerdir={PROCESSOR},upperdir={upper},workdir={work}"
    with contextlib.suppress(OSError):  # a kernel that is not ours may not have it, and boots all the same
        libc.mount("overlay", PROCESSOR, "overlay", layers)


def share(folders: list[str]) -> None:
    """Let the host's folders show through where a private mount hides them; outer ones first."""
    for folder in sorted(set(folders)):
        if is_hidden(folder):
            os.makedirs(folder, exist_ok=True)
            libc.mount("none", folder, "hostfs", folder)


def is_hidden(folder: str) -> bool:
    """Whether a private mount of the guest lies over this folder of the host."""
    private = [mounted for mounted, _ in PRIVATE]
    folder = os.path.abspath(folder)
    return any(os.path.commonpath([folder, mounted]) == mounted and folder != mounted for mounted in private)
