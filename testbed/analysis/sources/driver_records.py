"""Records that are few in any run (probe results, port counters), read on the driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd


def read_on_driver(kind: type[msgspec.Struct], files: Mapping[str, Iterable[Path]]) -> pd.DataFrame:
    """One row per line, with its run; a line that cannot be read is left out (a torn last line)."""
    decoder = msgspec.json.Decoder(kind)
    rows: list[dict[str, Any]] = []
    for run, listed in files.items():
        for path in listed:
            for line in path.read_bytes().splitlines():
                try:
                    rows.append({"run": run, **msgspec.structs.asdict(decoder.decode(line))})
                except msgspec.MsgspecError:
                    continue
    columns = ["run", *[field.name for field in msgspec.structs.fields(kind)]]
    return pd.DataFrame(rows, columns=columns)
