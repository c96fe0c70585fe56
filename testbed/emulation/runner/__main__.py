"""python -m testbed.emulation.runner RUNFOLDER [--keep] [--lifeline]"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

# Why: see broker_grpc.process.transport. Read when grpc is first imported, hence before all other imports.
os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_client,-event_engine_listener")
# Mininet asks for distutils; without this word setuptools answers, with a hundred modules of its own.
if sys.version_info < (3, 12):
    os.environ.setdefault("SETUPTOOLS_USE_DISTUTILS", "stdlib")
# The nursery forks, so nothing that it imports may start threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> int:
    """Exit code 0: done, and the network was as planned. 1: anything else."""
    parser = argparse.ArgumentParser(prog="python -m testbed.emulation.runner", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keep", action="store_true", help="leave network and brokers up after the run")
    parser.add_argument(
        "--lifeline", action="store_true", help="the run ends in order when standard input ends"
    )
    options = parser.parse_args()

    from testbed.emulation.network import EmulatedNetwork
    from testbed.emulation.runner.emulated_run import EmulatedRun
    from testbed.run.folder import RunFolder

    folder = RunFolder(options.folder.resolve())
    run = EmulatedRun(folder, EmulatedNetwork, lifeline=0 if options.lifeline else None)
    outcome = run.run(keep=options.keep)
    verdict = folder.read_fidelity()
    return 0 if outcome.status == "done" and (verdict is None or verdict.verdict != "fail") else 1


if __name__ == "__main__":
    sys.exit(main())
