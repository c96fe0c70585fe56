"""Work packed into few tasks: a Python task costs some 30 ms whatever it reads."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

Item = TypeVar("Item")


def pack(items: Iterable[tuple[int, Item]], bins: int) -> list[list[Item]]:
    """Items with their sizes into at most `bins` lists of about equal size; order depends on nothing else."""
    listed = sorted(enumerate(items), key=lambda entry: (-entry[1][0], entry[0]))
    packed: list[list[Item]] = [[] for _ in range(max(1, min(bins, len(listed))))]
    heap = [(0, number) for number in range(len(packed))]
    for _, (size, item) in listed:
        load, number = heapq.heappop(heap)
        packed[number].append(item)
        heapq.heappush(heap, (load + size, number))
    return packed


def from_bins(
    spark: SparkSession,
    packed: list[list[Item]],
    read: Callable[[Item], Iterator[pa.RecordBatch]],
    schema: str,
) -> DataFrame:
    """One task per bin, through `mapInArrow`: no planner process, unlike a Data Source."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for item in packed[number]:
                    yield from read(item)

    numbers = spark.range(0, len(packed), 1, len(packed))
    return numbers.mapInArrow(run, schema)
