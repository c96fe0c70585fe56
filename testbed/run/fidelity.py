"""Is the network what the plan says? The verdict over all round-trip probes of a run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from protos.records import Fidelity, LogEvent, ProbeResult
from testbed.run.faults import CUTS, FaultWindow, fault_windows
from testbed.topology.paths import Routing
from testbed.topology.plan import Plan

DEFAULT_LIMITS = {"virtual": (0.01, 200.0), "real": (0.05, 1000.0)}
NETWORK_FAULTS = CUTS | {"reshape"}


@dataclass(frozen=True)
class Limits:
    """A probe may be off by `relative` of its planned round trip or by `absolute_us`, whichever is larger."""

    relative: float
    absolute_us: float

    def allowed_us(self, planned_us: float) -> float:
        return max(self.relative * planned_us, self.absolute_us)


def limits(plan: Plan, clock: str) -> Limits:
    relative, absolute = DEFAULT_LIMITS[clock]
    return Limits(plan.probes.limit_relative or relative, plan.probes.limit_us or absolute)


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed."""
    return ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)]


def judge(
    probes: Iterable[ProbeResult],
    allowed: Limits,
    tolerance_us: dict[tuple[str, str], float] | None = None,
    lossy: bool = False,
) -> Fidelity:
    """Errors of all probes, and whether 99 of 100 stay within their limit.

    `tolerance_us` is what the plan itself leaves open for a pair (jitter); it is not counted as an error.
    Lost probes fail a run only where the plan loses nothing (`lossy`).
    """
    errors: list[float] = []
    excess: list[float] = []
    lost = 0
    for probe in probes:
        if probe.measured_us < 0:
            lost += 1
            continue
        open_us = (tolerance_us or {}).get((probe.source, probe.target), 0.0)
        error = max(0.0, abs(probe.measured_us - probe.planned_us) - open_us)
        errors.append(error)
        excess.append(error / allowed.allowed_us(probe.planned_us))
    verdict, reason = _verdict(sorted(excess), lost, lossy)
    return _summary(sorted(errors), lost, allowed, verdict, reason)


def _verdict(excess: Sequence[float], lost: int, lossy: bool) -> tuple[str, str]:
    if not excess:
        return "unknown", "no probe was answered" if lost else "no probes"
    over = sum(ratio > 1 for ratio in excess)
    if percentile(excess, 0.99) > 1:
        return "fail", f"{over} of {len(excess)} probes are off by more than the limit"
    if lost and not lossy and lost / (lost + len(excess)) > 0.01:
        return "fail", f"{lost} of {lost + len(excess)} probes were lost on links without loss"
    return "pass", f"{over} of {len(excess)} probes are off by more than the limit" if over else ""


def _summary(errors: Sequence[float], lost: int, allowed: Limits, verdict: str, reason: str) -> Fidelity:
    fidelity = Fidelity(
        verdict=verdict,
        reason=reason,
        probes=len(errors) + lost,
        lost=lost,
        limit_relative=allowed.relative,
        limit_us=allowed.absolute_us,
    )
    if errors:
        fidelity.error_p50_us = percentile(errors, 0.5)
        fidelity.error_p95_us = percentile(errors, 0.95)
        fidelity.error_p99_us = percentile(errors, 0.99)
        fidelity.error_max_us = errors[-1]
    return fidelity


# ---------------------------------------------------------------- what the plan leaves open


def tolerances(plan: Plan) -> dict[tuple[str, str], float]:
    """By probed pair: how far jitter may move a round trip in either direction."""
    routing = Routing(plan.network)
    links = {frozenset((link.a, link.b)): link.jitter_us for link in plan.network.links}
    pairs = {(pair.a, pair.b): pair.jitter_us for pair in plan.network.pairs}
    found: dict[tuple[str, str], float] = {}
    for a, b in plan.probes.pairs:
        path = routing.path(a, b)
        on_links = 2 * sum(links[frozenset(step)] for step in itertools.pairwise(path))
        found[a, b] = on_links + pairs.get((a, b), 0) + pairs.get((b, a), 0)
    return found


def outside_faults(probes: Iterable[ProbeResult], events: Iterable[LogEvent]) -> list[ProbeResult]:
    """Leave out probes that were under way while a link was down, the network partitioned, or a link changed.

    Also for one round trip after the end of a fault: a packet may still be on the detour.
    """
    faults = [window for window in fault_windows(events) if window.action in NETWORK_FAULTS]
    return [probe for probe in probes if not any(overlaps(probe, fault) for fault in faults)]


def overlaps(probe: ProbeResult, fault: FaultWindow) -> bool:
    duration = max(probe.measured_us, probe.planned_us)
    began = probe.t_us + duration >= fault.start_us
    return began and (fault.end_us is None or probe.t_us <= fault.end_us + duration)


def read(folder: Path) -> list[ProbeResult]:
    """Every line of probes/*.jsonl that can be read; `broken_lines` has the others."""
    return [probe for _, probe in _probes(folder) if probe is not None]


def broken_lines(folder: Path) -> list[str]:
    """file:line of every line that is no probe; a torn last line, without its newline, is not counted."""
    return [place for place, probe in _probes(folder) if probe is None]


def _probes(folder: Path) -> Iterator[tuple[str, ProbeResult | None]]:
    decode = msgspec.json.Decoder(ProbeResult).decode
    for path in sorted(path for path in folder.glob("*.jsonl") if path.is_file()):
        *lines, _ = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                yield f"{path.name}:{number}", decode(line) if line else None
            except (msgspec.MsgspecError, UnicodeDecodeError):
                yield f"{path.name}:{number}", None


def loses(plan: Plan) -> bool:
    """Whether packets may be lost by the plan, at all times or once a link is reshaped."""
    network = plan.network
    always = any(link.loss for link in network.links) or any(pair.loss for pair in network.pairs)
    return always or any(event.action == "reshape" and event.arguments.get("loss") for event in plan.events)


def told(fidelity: Fidelity) -> str:
    """The verdict in one line, the same wherever it is shown: first why, then the numbers."""
    why = f": {fidelity.reason}" if fidelity.reason else "" if fidelity.probes else ": no probes"
    if not fidelity.probes:
        return f"fidelity {fidelity.verdict}{why}"
    shown = {"p50": fidelity.error_p50_us, "p99": fidelity.error_p99_us, "max": fidelity.error_max_us}
    errors = ", ".join(f"{name} {value / 1000:.3f} ms" for name, value in shown.items())
    lost = f", {fidelity.lost:,} lost" if fidelity.lost else ""
    return f"fidelity {fidelity.verdict}{why}; {fidelity.probes:,} probes{lost}, error {errors}"


def read_events(path: Path) -> list[LogEvent]:
    *lines, _ = path.read_bytes().split(b"\n") if path.exists() else [b""]
    decode = msgspec.json.Decoder(LogEvent).decode
    return [decode(line) for line in lines if line]
