"""The rows of a computation: what a placement took, what a system on it took, what its manager saw."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas

from testbed.flow.dynatops.network import Network
from testbed.flow.dynatops.playing import Played

Tables = dict[str, pandas.DataFrame]


def looks_of(made: dict[str, Network]) -> pandas.DataFrame:
    return pandas.DataFrame(
        [{"system": name, **asdict(look)} for name, network in made.items() for look in network.looks]
    )


def rows_of(table: str, made: dict[str, Network], played: Played) -> Tables:
    rows = [row_of(name, network, played) for name, network in made.items()]
    return {table: pandas.DataFrame(rows), "looks": looks_of(made)}


def row_of(name: str, network: Network, played: Played) -> dict[str, Any]:
    looks = network.looks
    return {
        "system": name, **placed(played), **asdict(network.sums), "tree_messages": network.tree_messages,
        "reconfiguration": float(sum(look.messages for look in looks)),
        "reconfigurations": sum(look.moved > 0 for look in looks),
        "moved": sum(look.moved for look in looks), "links": 0,
    }  # fmt: skip


def placed(played: Played) -> dict[str, Any]:
    return {
        "telling": played.telling, "handovers": played.handovers, "requests": played.requests,
        "changes": played.changes,
        "load_deviation": float(np.mean(played.load_deviation)),
        "load_mean": float(np.mean(played.load_mean)),
    }  # fmt: skip
