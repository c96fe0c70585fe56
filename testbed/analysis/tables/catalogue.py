"""Every table with its columns and units: one list for the files, the documentation and the tests."""

from __future__ import annotations

from testbed.analysis.tables import (
    clusters,
    costs,
    delay,
    deliveries,
    exchanges,
    fidelity,
    hops,
    links,
    load,
    overhead,
    purposes,
    reconfigurations,
    rings,
    trees,
    wire,
)
from testbed.analysis.tables import fault_losses as faults

PROVENANCE = {
    "run": "run id",
    "name": "experiment",
    "engine": "host, guest or simulate",
    "clock": "real, virtual or simulated",
    "seed": "seed of the run",
}
TABLES: dict[str, dict[str, str]] = {
    "delay": delay.COLUMNS,
    "hops": hops.COLUMNS,
    "hop_distribution": hops.DISTRIBUTION_COLUMNS,
    "overhead": overhead.COLUMNS,
    "link_messages": overhead.LINK_COLUMNS,
    "purposes": purposes.COLUMNS,
    "ring_changes": rings.COLUMNS,
    "trees": trees.COLUMNS,
    "tree_edges": trees.EDGE_COLUMNS,
    "handovers": trees.HANDOVER_COLUMNS,
    "clusters": clusters.COLUMNS,
    "exchanges": exchanges.COLUMNS,
    "costs": costs.COLUMNS,
    "reconfigurations": reconfigurations.COLUMNS,
    "places": reconfigurations.PLACE_COLUMNS,
    "wire": wire.COLUMNS,
    "load": load.COLUMNS,
    "links": links.COLUMNS,
    "deliveries": deliveries.COLUMNS,
    "losses": deliveries.LOSS_COLUMNS,
    "fault_losses": faults.COLUMNS,
    "recoveries": faults.RECOVERY_COLUMNS,
    "fidelity": fidelity.COLUMNS,
}
# By what rows are sorted, so that a table does not depend on how the work was divided.
ORDER: dict[str, list[str]] = {
    "delay": ["group_by", "group"],
    "hops": ["measure"],
    "hop_distribution": ["measure", "hops"],
    "overhead": [],  # sorted by its own rules: data, control, sums
    "link_messages": ["source", "target", "type"],
    "purposes": ["broker", "window_s", "link", "purpose"],
    "ring_changes": ["time_s", "broker", "change", "peer"],
    "trees": ["plane", "topic", "time_s"],
    "tree_edges": ["plane", "topic", "parent", "child"],
    "handovers": ["time_s", "client"],
    "clusters": ["time_s", "channel", "operation"],
    "exchanges": ["time_s", "exchange"],
    "costs": ["window_s", "purpose"],
    "reconfigurations": ["time_s", "version"],
    "places": ["version", "broker"],
    "wire": ["source", "target", "link"],
    "load": ["broker", "window_s"],
    "links": [],  # as in the plan
    "deliveries": ["publication", "subscriber"],
    "losses": ["outcome", "settled"],
    "fault_losses": [],  # sorted by its own rules: all, faults in order of time, none
    "recoveries": [],  # faults in order of time
    "fidelity": ["source", "target"],
}
