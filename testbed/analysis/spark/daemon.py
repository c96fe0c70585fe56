"""Spark's Python daemon with the testbed already imported: the workers it forks need not import it again.

No thread may run when a worker is forked: NumPy's linear algebra, which would start some, is told not to, and
Arrow starts its threads only when it is first used.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pandas
import pyarrow.compute
import pyspark.worker
from pyspark.daemon import manager

import testbed.analysis.evidence.journeys
import testbed.analysis.sources.bins
import testbed.analysis.sources.pcap

PRELOADED = (
    pandas,
    pyarrow.compute,
    pyspark.worker,
    testbed.analysis.evidence.journeys,
    testbed.analysis.sources,
)

if __name__ == "__main__":
    manager()
