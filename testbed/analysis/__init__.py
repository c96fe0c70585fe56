"""Run folders into tables, with Spark.

    from testbed.analysis import analyze
    analysis = analyze(["results/quickstart/latest"])
    analysis.frame("delay")             # pandas; analysis.tables["delay"] is Arrow

    from testbed.analysis import register
    register(spark)
    spark.read.format("pcap").load("results/quickstart/latest/pcap/*.pcap")

Nothing here imports Spark before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from testbed.analysis.pipeline import analyze
    from testbed.analysis.result import Analysis
    from testbed.analysis.sources.pcap import read_grpc, read_pcap, register
    from testbed.analysis.sources.run_records import read_records

_HOMES = {
    "Analysis": "testbed.analysis.result",
    "analyze": "testbed.analysis.pipeline",
    "read_grpc": "testbed.analysis.sources.pcap",
    "read_pcap": "testbed.analysis.sources.pcap",
    "read_records": "testbed.analysis.sources.run_records",
    "register": "testbed.analysis.sources.pcap",
}
__all__ = ["Analysis", "analyze", "read_grpc", "read_pcap", "read_records", "register"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(name)
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
