"""Results of one law at a time, kept: a full run that was stopped goes on where it was.

A part is found again by what made it: setting, seed, systems, and the text of the modules that
compute it. A changed algorithm never meets the results of the old one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pandas

import broker_grpc.topicconnected
from experiments.shadow_tco.rounds import play
from experiments.shadow_tco.workload import Setting

SOURCES = [
    *sorted(Path(broker_grpc.topicconnected.__path__[0]).glob("*.py")),
    *(Path(__file__).with_name(name) for name in ("rounds.py", "workload.py")),
]


class Parts:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def play(
        self, setting: Setting, seed: int, wanted: list[str], low_every: int, report: Callable[[str], None]
    ) -> tuple[pandas.DataFrame, pandas.DataFrame]:
        key = identity(setting, seed, wanted, low_every)
        names = [
            self._folder / f"{setting.popularity}-{kind}-{key}.parquet" for kind in ("rounds", "degrees")
        ]
        if all(name.exists() for name in names):
            report(f"{setting.popularity}: taken from {self._folder}")
            return pandas.read_parquet(names[0]), pandas.read_parquet(names[1])
        frames = play(setting, seed, wanted, low_every, report)
        self._folder.mkdir(parents=True, exist_ok=True)
        for name, frame in zip(names, frames, strict=True):
            partial = name.with_suffix(".partial")
            frame.to_parquet(partial, index=False)
            partial.replace(name)
        return frames


def identity(setting: Setting, seed: int, wanted: list[str], low_every: int) -> str:
    digest = hashlib.sha256(repr((sorted(asdict(setting).items()), seed, wanted, low_every)).encode())
    for source in SOURCES:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
