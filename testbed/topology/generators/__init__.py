"""Networks made from a few parameters and a seed."""

from testbed.topology.generators.graph import Graph

__all__ = ["Graph"]
