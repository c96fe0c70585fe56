"""RTT error against load, in virtual and in real time: why delays measured in virtual time can be believed.

    python -m benchmarks.fidelity [--rates 1 10 50 100] [--seconds 20] [--out artifacts/bench]

The same chain of brokers carries more and more publications per second; round-trip probes between its hosts
are compared with the plan. Writes fidelity.csv and fidelity.png (99th percentile and maximum of the error).
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from pathlib import Path

from testbed.run.deploy import deploy, prepare
from testbed.run.engine import Clock, Options, engine
from testbed.topology.load import load_plan_text

TOPOLOGY = """
name: load-{rate}
seed: 1
duration: {seconds}s
network: {{generator: chain, nodes: 5, link: {{latency: 10ms}}}}
brokers:
  B: {{count: 5, place: one_per_node}}
overlay: {{generator: chain}}
clients:
  pub:
    kind: publisher
    count: 4
    broker: random
    publish: {{source: stock, rate: {rate}/s, parameters: {{symbol: "S{{i}}"}}}}
  sub: {{kind: subscriber, count: 5, broker: random, subscribe: ["[class,eq,'STOCK']"]}}
capture: {{enabled: false}}
probes: {{pairs: 10, every: 100ms}}
"""
CLOCKS: tuple[Clock, ...] = ("virtual", "real")
FIELDS = ("clock", "rate", "publications_per_s", "probes", "p50_us", "p99_us", "max_us")
Row = dict[str, float | str]


def measure(clock: Clock, rate: int, seconds: int, results: Path) -> Row:
    plan = load_plan_text(TOPOLOGY.format(rate=rate, seconds=seconds))
    folder = prepare(plan, None, results, "guest", clock, "benchmarks/fidelity.py")
    outcome = deploy(folder, engine("guest"), Options(clock), lambda event: None)
    if outcome.manifest.status != "done" or outcome.fidelity is None:
        raise SystemExit(f"{clock}, {rate}/s: {outcome.manifest.status}: {outcome.manifest.reason}")
    found = outcome.fidelity
    return {
        "clock": clock,
        "rate": rate,
        "publications_per_s": rate * 4,
        "probes": found.probes,
        "p50_us": found.error_p50_us,
        "p99_us": found.error_p99_us,
        "max_us": found.error_max_us,
    }


def draw(rows: list[Row], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.6), layout="constrained")
    for clock, colour in zip(CLOCKS, ("tab:blue", "tab:red"), strict=True):
        mine = [row for row in rows if row["clock"] == clock]
        loads = [float(row["publications_per_s"]) for row in mine]
        for name, style in (("p99_us", "-o"), ("max_us", ":^")):
            errors = [max(float(row[name]), 0.1) for row in mine]
            label = f"{clock} time, {'p99' if name == 'p99_us' else 'maximum'}"
            axes.plot(loads, errors, style, color=colour, label=label)
    axes.set(xscale="log", yscale="log", xlabel="publications per second", ylabel="RTT error (us)")
    axes.set_title("Round-trip error against the plan, by load")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rates", type=int, nargs="+", default=[1, 10, 50, 100])
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("artifacts/bench"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        rows = [
            measure(clock, rate, options.seconds, Path(scratch)) for clock in CLOCKS for rate in options.rates
        ]
    with (options.out / "fidelity.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    draw(rows, options.out / "fidelity.png")
    for row in rows:
        print("  ".join(f"{name}={row[name]}" for name in FIELDS))


if __name__ == "__main__":
    main()
