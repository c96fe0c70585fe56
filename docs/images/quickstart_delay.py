"""Draws the README's picture from a run: python docs/images/quickstart_delay.py RUN

Left: the delay of every delivery, beside the latency that the plan gives its path. Right: the difference,
which is all that brokers, kernel and harness added.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
OURS, PLANNED = "#1f5f8b", "#c8553d"


def share(count: int) -> list[float]:
    return [100 * (number + 1) / count for number in range(count)]


def draw(run: Path, target: Path) -> None:
    with (run / "tables" / "deliveries.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["outcome"] == "delivered"]
    delays = sorted(int(row["delay_us"]) / 1000 for row in rows)
    planned = sorted(int(row["propagation_us"]) / 1000 for row in rows)
    added = sorted(int(row["delay_us"]) - int(row["propagation_us"]) for row in rows)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
    left.step(
        planned, share(len(rows)), where="post", color=PLANNED, linewidth=5, alpha=0.45, label="planned path"
    )
    left.step(delays, share(len(rows)), where="post", color=OURS, linewidth=1.5, label="measured")
    left.set(xlabel="delivery delay (ms)", ylabel="deliveries (%)")
    left.legend(frameon=False, loc="upper left")
    right.step(added, share(len(rows)), where="post", color=OURS, linewidth=1.5)
    right.set(xlabel="measured minus planned (µs)", xlim=(0, None))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylim(0, 103)
    first = rows[0]
    figure.suptitle(
        f"{first['name']}: {len(rows)} deliveries, engine {first['engine']}, {first['clock']} time, "
        f"seed {first['seed']}, run {first['run']}",
        fontsize=9,
    )
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/images/quickstart_delay.py RUN")
    draw(Path(sys.argv[1]), HERE / "quickstart-delay.png")
