"""The body of an emulated run: network, processes, phases, gates, events, collection.

    python -m testbed.emulation.runner RUNFOLDER [--keep]

The timeline (`timeline`, `gates`, `faults`) is a sans-IO machine; `conductor` applies its effects with
processes (`nursery`, `child`, `processes`) and the emulated network, and `__main__` ties them together.
"""
