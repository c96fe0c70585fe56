"""Disk, memory, Java and the commands a run calls."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from testbed.doctor.attempt import attempt, search_path
from testbed.doctor.finding import Finding, State

GIB = 1 << 30
MEMORY_WANTED = 2 * GIB  # Spark and a guest of a dozen brokers beside each other
DISK_WANTED = 1 * GIB  # a run with captures
JAVA_WANTED = 17  # Spark 4
EMULATION = ("host", "guest")

# Commands that Mininet or an engine starts, with the Debian package that brings them.
COMMANDS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "ping": "iputils-ping",
    "ifconfig": "net-tools",
    "ethtool": "ethtool",
    "tcpdump": "tcpdump",
    "ovs-vsctl": "openvswitch-switch",
    "ovs-vswitchd": "openvswitch-switch",
    "ovsdb-server": "openvswitch-switch",
}


def commands(path: str | None = None) -> Finding:
    """Look for every command an emulation starts, on this search path or the usual one."""
    where = search_path() if path is None else path
    absent = [name for name in COMMANDS if shutil.which(name, path=where) is None]
    if not absent:
        return Finding("commands", State.OK, ", ".join(COMMANDS))
    packages = sorted({COMMANDS[name] for name in absent})
    fix = f"sudo apt-get install -y --no-install-recommends {' '.join(packages)}"
    return Finding("commands", State.MISSING, f"not found: {', '.join(absent)}", fix, EMULATION)


def java() -> Finding:
    """Start Java and ask for its version."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else "java"
    started = attempt([program, "-version"])
    version = java_major(started.output) if started.worked else None
    if version is not None and version >= JAVA_WANTED:
        return Finding("java", State.OK, f"Java {version} ({program})")
    detail = f"Java {version}, Spark 4 needs {JAVA_WANTED}" if version else f"no Java: {started.why}"
    fix = "sudo apt-get install -y --no-install-recommends openjdk-17-jre-headless"
    if home:
        fix += " && unset JAVA_HOME"
    return Finding("java", State.MISSING, detail, fix, ("analyze",))


def java_major(text: str) -> int | None:
    """The major version in the output of `java -version`; Java 8 calls itself 1.8."""
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else None


def memory(meminfo: Path = Path("/proc/meminfo")) -> Finding:
    found = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo.read_text(), re.MULTILINE)
    available = int(found.group(1)) * 1024 if found else 0
    if available >= MEMORY_WANTED:
        return Finding("memory", State.OK, f"{available / GIB:.1f} GiB available")
    detail = f"{available / GIB:.1f} GiB available, {MEMORY_WANTED / GIB:.0f} GiB wanted"
    return Finding("memory", State.MISSING, detail, "end other programs, or give the machine more", EMULATION)


def disk(folder: Path | None = None) -> Finding:
    """Space where runs are written."""
    place = nearest_existing(folder or Path.cwd() / "results")
    free = shutil.disk_usage(place).free
    if free >= DISK_WANTED:
        return Finding("disk", State.OK, f"{free / GIB:.1f} GiB free for results in {place}")
    detail = f"{free / GIB:.1f} GiB free in {place}, {DISK_WANTED / GIB:.0f} GiB wanted"
    fix = "remove old runs under results/, or give another folder with --results DIR"
    return Finding("disk", State.MISSING, detail, fix, EMULATION)


def nearest_existing(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path
