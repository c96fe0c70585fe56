"""What the host engine needs of this kernel: root, netem, the Open vSwitch datapath."""

from __future__ import annotations

import os

from testbed.doctor.attempt import attempt, in_new_network
from testbed.doctor.finding import Finding, State

HOST = ("host",)


def root() -> Finding:
    """Make a network namespace: being root is not enough in a container without the capability."""
    if os.geteuid() != 0:
        return Finding(
            "root", State.NOTE, "plain user: the host engine needs root, the guest engine does not"
        )
    made = attempt(["unshare", "--net", "true"])
    if made.worked:
        return Finding("root", State.OK, "root, and allowed to make network namespaces")
    fix = "give the container the capabilities SYS_ADMIN and NET_ADMIN, or use --engine guest"
    return Finding("root", State.MISSING, f"root, but no network namespaces: {made.why}", fix, HOST)


def netem() -> Finding:
    """Put a netem qdisc on the loopback of a throw-away namespace."""
    shaped = attempt(in_new_network("tc qdisc add dev lo root netem delay 1ms && tc qdisc show dev lo"))
    if shaped.worked and "netem" in shaped.output:
        return Finding("netem", State.OK, "a netem qdisc could be added in a throw-away namespace")
    fix = module_fix("sch_netem", "link delays")
    return Finding("netem", State.MISSING, f"no link delays on this kernel: {shaped.why}", fix, HOST)


def openvswitch() -> Finding:
    """Make a datapath in a throw-away namespace."""
    made = attempt(in_new_network("ovs-dpctl add-dp testbed-probe && ovs-dpctl del-dp testbed-probe"))
    if made.worked:
        return Finding("openvswitch", State.OK, "a kernel datapath could be made in a throw-away namespace")
    if "not found" in made.why or "no such command" in made.why:
        fix = "sudo apt-get install -y --no-install-recommends openvswitch-switch"
    else:
        fix = module_fix("openvswitch", "switches")
    return Finding("openvswitch", State.MISSING, f"no kernel datapath: {made.why}", fix, HOST)


def module_fix(module: str, purpose: str) -> str:
    """Loading the module where this kernel has it; otherwise there is no command, only the other engine."""
    if attempt(["modprobe", "--dry-run", module]).worked:
        return f"sudo modprobe {module}"
    return f"this kernel has no module {module}: use --engine guest, whose own kernel has the {purpose}"
