"""Virtual interfaces on this machine that an earlier run may have left."""

from __future__ import annotations

import json

from testbed.doctor.attempt import attempt
from testbed.doctor.finding import Finding, State

KINDS = ("veth", "openvswitch")
SHOWN = 6


def leftovers() -> Finding:
    """Ask the kernel for interfaces of the kinds that a deployment makes."""
    found = [name for kind in KINDS for name in interfaces(kind)]
    if not found:
        return Finding("leftovers", State.OK, "no virtual interfaces on this machine")
    names = ", ".join(found[:SHOWN]) + (", ..." if len(found) > SHOWN else "")
    detail = f"{len(found)} virtual interfaces ({names}): of a running deployment, or not ours"
    return Finding("leftovers", State.NOTE, detail)


def interfaces(kind: str) -> list[str]:
    listed = attempt(["ip", "-json", "link", "show", "type", kind])
    if not listed.worked or not listed.output.strip():
        return []
    return [link["ifname"] for link in json.loads(listed.output) if "ifname" in link]
