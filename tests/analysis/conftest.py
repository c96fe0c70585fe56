"""One Spark session for all tests of the analysis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from testbed.analysis.spark.session import start

    session = start("local[2]")
    yield session
    session.stop()
