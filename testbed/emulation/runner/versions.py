"""What ran: versions of the parts that decide a result, and the kernel they ran on."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib import metadata

PACKAGES = ("grpcio", "mininet", "msgspec", "protobuf", "ryu")


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    switch = openvswitch()
    return found | ({"openvswitch": switch} if switch else {})


def openvswitch() -> str:
    try:
        asked = subprocess.run(["ovs-vswitchd", "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    found = re.search(r"\d+\.\d+(\.\d+)?", asked.stdout)
    return found.group(0) if found else ""


def kernel() -> str:
    """Name, release and processor of the kernel under the run; `um` in the processor field is the guest's."""
    here = os.uname()
    return f"{here.sysname} {here.release} {here.machine}"
