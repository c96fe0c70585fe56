"""The topology file, declared once: type, unit, default and meaning of every value.

Loading, the JSON schema and docs/topology-file.md all come from these models.
"""

from testbed.topology.file.schema.file import TopologyFile

__all__ = ["TopologyFile"]
