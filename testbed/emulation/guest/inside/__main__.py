"""The guest's first process: set the machine up, serve, power off."""

from __future__ import annotations

import json
import os
import sys
import traceback

from testbed.emulation.guest.inside import libc, machine, mounts, openvswitch
from testbed.emulation.guest.inside.agent import Agent
from testbed.emulation.guest.inside.line import Line

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def main() -> None:
    os.environ["PATH"] = PATH
    mounts.mount_all()
    with open(f"{mounts.CONTROL}/guest.json", encoding="utf-8") as file:
        setup = json.load(file)
    mounts.share(setup["shared"])
    machine.configure(setup["hostname"], setup["seed"])
    if setup["openvswitch"]:
        openvswitch.start()
    Agent(Line(), virtual=setup["clock"] == "virtual").serve(setup["first_jobs"])


if __name__ == "__main__":
    try:
        main()
    except BaseException:  # the first process must not end: say why, and power off
        traceback.print_exc()
        sys.stderr.flush()
    os.sync()
    libc.power_off()
