"""The testbed from a notebook or a program: `from testbed import api`.

    run = api.run("topologies/quickstart.yaml", engine="simulate", duration="20s")
    run.table("delay")                     # pandas; arrow("delay") for Arrow
    sweep = api.sweep("topologies/quickstart.yaml", {"overlay.fanout": [2, 3]}, seeds=[1, 2, 3])
    api.figure(sweep.table("delay").query("group_by == 'all'"), x="set.overlay.fanout", y="mean_us")

Tables that are there are read without starting Spark. Mistakes are `testbed.errors.TestbedError` with `file`,
`line` and `hint`.
"""

from testbed.api.figures import figure
from testbed.api.results import Run, Sweep, load
from testbed.api.running import run, sweep

__all__ = ["Run", "Sweep", "figure", "load", "run", "sweep"]
