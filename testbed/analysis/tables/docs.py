"""`python -m testbed.analysis.tables.docs` writes docs/tables.md, and the columns that `validate` knows."""

from __future__ import annotations

import json
from pathlib import Path

from protos.purposes import PURPOSES
from testbed.analysis.sources.pcap import MESSAGE_COLUMNS
from testbed.analysis.tables.catalogue import PROVENANCE, TABLES
from testbed.analysis.wire.columns import PACKET_COLUMNS
from testbed.topology.check_expressions import COLUMNS

PAGE = Path(__file__).parents[3] / "docs" / "tables.md"
MARK = "<!-- below: made by `python -m testbed.analysis.tables.docs` -->"


def reference() -> str:
    parts = ["# Reference", "Every table begins with its provenance:", rows(PROVENANCE)]
    for name, columns in TABLES.items():
        parts += [f"## {name}", rows(columns)]
    parts += ["## Purposes of messages", "A protocol may have others of its own.", rows(PURPOSES, "purpose")]
    parts += ['## Columns of a capture (`spark.read.format("pcap")`, `read_pcap`)']
    parts += [rows({name: text for name, (_, text) in PACKET_COLUMNS.items()})]
    parts += ["## Columns of gRPC messages (`read_grpc`)"]
    parts += [rows({name: text for name, (_, text) in MESSAGE_COLUMNS.items()})]
    return "\n\n".join(parts) + "\n"


def rows(columns: dict[str, str], heading: str = "column") -> str:
    lines = [
        f"| `{name}` | {' '.join(text.split()).replace('|', chr(92) + '|')} |"
        for name, text in columns.items()
    ]
    return "\n".join([f"| {heading} | meaning |", "|---|---|", *lines])


def column_names() -> str:
    """What a check may name, for those who know no Spark."""
    names = {table: [*PROVENANCE, *columns] for table, columns in TABLES.items()}
    return json.dumps(names, indent=1) + "\n"


def main() -> None:
    COLUMNS.write_text(column_names())
    before = PAGE.read_text().partition(MARK)[0] if PAGE.exists() else ""
    PAGE.write_text(f"{before.rstrip()}\n\n{MARK}\n\n{reference()}")


if __name__ == "__main__":
    main()
