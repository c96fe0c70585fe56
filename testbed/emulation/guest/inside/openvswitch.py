"""Start Open vSwitch in the guest, with everything it writes in the guest's memory."""

from __future__ import annotations

import os
import subprocess
import time

FOLDER = "/run/openvswitch"
SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
# ovs-vswitchd counts the CPUs only once the monotonic clock has passed ten seconds; started earlier it runs
# without threads for packets that match no flow, and forwards nothing.
EARLIEST_SECONDS = 10.5


def start() -> None:
    """Both daemons, ready for `ovs-vsctl` when this returns."""
    os.makedirs(FOLDER, exist_ok=True)
    database = f"{FOLDER}/conf.db"
    _call("ovsdb-tool", "create", database, SCHEMA)
    _call("ovsdb-server", database, f"--remote=punix:{FOLDER}/db.sock", *_daemon("ovsdb-server"))
    _call("ovs-vsctl", "--no-wait", "init")
    time.sleep(max(0.0, EARLIEST_SECONDS - time.monotonic()))
    _call("ovs-vswitchd", f"unix:{FOLDER}/db.sock", *_daemon("ovs-vswitchd"))


def _daemon(name: str) -> list[str]:
    return [
        f"--pidfile={FOLDER}/{name}.pid", f"--log-file={FOLDER}/{name}.log", f"--unixctl={FOLDER}/{name}.ctl",
        "--detach", "--no-chdir", "-vconsole:off", "-vsyslog:off",
    ]  # fmt: skip


def _call(*argv: str) -> None:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{argv[0]} failed ({done.returncode}): {done.stderr.strip()}")
