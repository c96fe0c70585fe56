"""The checks that every run must pass, whatever its experiment is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from testbed.analysis.evidence.absences import FOREVER, Absence
from testbed.analysis.evidence.check_result import CheckResult
from testbed.analysis.evidence.log_health import LogHealth
from testbed.analysis.evidence.runs import Run
from testbed.analysis.evidence.times import Rows, as_record
from testbed.analysis.evidence.witnesses import every_capture_there, every_client_logged, harness_logged
from testbed.analysis.tables.counted import BROKERS
from testbed.run.publishing import SLACK_US, Planned, differences, planned, summary

EVIDENCE = 10


@dataclass
class Evidence:
    """What the checks of one run look at; every frame holds this run's rows only."""

    run: Run
    health: LogHealth
    rare: Rows
    losses: pd.DataFrame
    link_messages: pd.DataFrame
    wire: pd.DataFrame
    damage: pd.DataFrame
    fidelity: pd.DataFrame
    absences: dict[str, tuple[Absence, ...]]  # of clients
    demands: bool  # a gate with settled subscriptions was met, so deliveries can be demanded
    unreadable_filters: int = 0


def standard(e: Evidence) -> list[CheckResult]:
    return [
        every_broker_logged(e),
        every_client_logged(e.run, e.rare, e.health.speaking),
        harness_logged(e.run, e.rare, e.health.speaking),
        logs_whole(e),
        every_capture_there(e.run),
        captures_whole(e),
        wire_agrees(e),
        published_as_planned(e),
        *exactly_once(e),
        causes_first(e),
        fidelity_kept(e),
    ]


def every_broker_logged(e: Evidence) -> CheckResult:
    name = "every broker logged"
    if e.health.silent:
        return CheckResult(
            name, "fail", f"{len(e.health.silent)} brokers have no event in the logs", e.health.silent
        )
    return CheckResult(name, "pass", f"{len(e.run.brokers)} brokers")


def logs_whole(e: Evidence) -> CheckResult:
    """A torn last line is what a crash leaves and is only counted; a bad line elsewhere is an error."""
    name, torn = "event logs are whole", e.health.torn
    if e.health.bad:
        return CheckResult(name, "fail", f"{len(e.health.bad)} lines cannot be read", e.health.bad[:EVIDENCE])
    if e.health.unknown_kinds:
        kinds = ", ".join(f"{kind} ({n})" for kind, n in sorted(e.health.unknown_kinds.items()))
        return CheckResult(name, "unknown", f"written by another version? kinds not known here: {kinds}")
    return CheckResult(
        name, "pass", f"{len(torn)} torn last lines dropped" if torn else "no line was dropped", torn
    )


def captures_whole(e: Evidence) -> CheckResult:
    name = "captures are whole"
    if not e.run.captures:
        return CheckResult(name, "unknown", "the run has no captures; tables come from the logs alone")
    dropped = [f"{c.file}: {c.dropped} packets dropped" for c in e.run.manifest.captures if c.dropped > 0]
    damage = [
        f"{row.file}: {row.state} ({row.bytes:.0f} bytes)"
        for row in e.damage.fillna({"bytes": 0}).itertuples()
    ]
    if steps := clock_steps(e.run):
        return CheckResult(
            name, "unknown", "the wall clock, which stamps packets, was set during the run", steps
        )
    if dropped or damage:
        return CheckResult(
            name, "unknown", "packets are missing from the captures", (dropped + damage)[:EVIDENCE]
        )
    return CheckResult(name, "pass", f"{len(e.run.captures)} files")


def clock_steps(run: Run) -> list[str]:
    first = run.manifest.first_us
    return [
        f"{step.step_us / 1e6:+.6f} s at {(step.t_us - first) / 1e6:.3f} s"
        for step in run.manifest.clock_steps
    ][:EVIDENCE]


def wire_agrees(e: Evidence) -> CheckResult:
    """Message counts by type of every overlay direction, log against wire."""
    name = "wire agrees with logs"
    if not e.run.captures:
        return CheckResult(name, "unknown", "no captures")
    if e.run.manifest.tls or e.run.plan.tls or (e.wire["state"] == "tls").any():
        return CheckResult(name, "unknown", "TLS hides the messages; bytes per link are in the table `wire`")
    known = e.link_messages[e.link_messages["wire_messages"].notna()]
    if not len(known):
        return CheckResult(
            name, "unknown", "no direction of an overlay link was captured whole", _states(e.wire)
        )
    log, wire = known["log_messages"] + known["late_log"], known["wire_messages"] + known["late_wire"]
    differing = known.assign(log=log, wire=wire)[log != wire]
    blind = len(e.link_messages) - len(known)
    directions = len(known.drop_duplicates(["source", "target"]))
    scope = f"{int(log.sum())} messages in {directions} directions"
    scope += (
        f"; {blind} rows without wire counts ({', '.join(_states(e.wire)) or 'not captured'})"
        if blind
        else ""
    )
    if not len(differing):
        return CheckResult(name, "pass", scope)
    reasons = explanations(e)
    told = [(_difference(row), _explained(row, reasons)) for row in differing.itertuples()]
    unexplained = [text for text, why in told if not why]
    if unexplained:
        text = f"{len(unexplained)} counts differ without an explanation"
        return CheckResult(name, "fail", text, unexplained[:EVIDENCE])
    evidence = [f"{text}: {why}" for text, why in told]
    return CheckResult(
        name, "pass", f"{scope}; {len(told)} counts differ, each explained", evidence[:EVIDENCE]
    )


def _states(wire: pd.DataFrame) -> list[str]:
    bad = wire[(wire["state"] != "whole")]
    return sorted({f"{row.source} to {row.target}: {row.state}" for row in bad.itertuples()})[:EVIDENCE]


def _difference(row: Any) -> str:
    return f"{row.source} to {row.target}, {row.type}: log {row.log}, wire {row.wire}"


def _explained(row: Any, reasons: dict[str, str]) -> str:
    if 0 <= row.log - row.wire <= row.late_log:
        return f"{row.late_log} were logged while the brokers stopped, and their streams were cut"
    known = reasons.get("") or reasons.get(row.source) or reasons.get(f"{row.source}>{row.target}")
    if known is None and row.target == BROKERS:
        known = next((why for end, why in reasons.items() if end.startswith(f"{row.source}>")), None)
    return known or ""


def explanations(e: Evidence) -> dict[str, str]:
    """Why counts may differ: for the run (""), for what a broker sent ("B1"), for a direction ("B1>B2")."""
    found: dict[str, str] = {}
    for capture in e.run.manifest.captures:
        if capture.dropped:
            found[""] = f"{capture.file}: " + (
                f"{capture.dropped} packets dropped" if capture.dropped > 0 else "drops unknown"
            )
    if len(e.damage):
        found[""] = "captures are damaged"
    if steps := clock_steps(e.run):
        found[""] = f"the wall clock was set: {steps[0]}"
    if e.run.plan.capture.ring_megabytes:
        found[""] = "the capture is a ring: old packets were overwritten"
    for file in e.health.torn:
        process = file.partition(".jsonl")[0]
        found[process] = f"the log of {process} ends in mid-line"
    ended = min((event["t_us"] for event in e.rare if event["kind"] == "RUN_ENDED"), default=FOREVER)
    for event in e.rare:
        if event["t_us"] <= ended:  # every link goes down when the run has ended; that excuses nothing
            found.update(_excuse(event, e.run.brokers))
    return found


def _excuse(event: dict[str, Any], brokers: set[str]) -> Iterable[tuple[str, str]]:
    kind, node, peer = event["kind"], event["node"], event["peer"]
    if kind == "CRASHED" or (kind == "FAULT_STARTED" and event["type"] in ("kill", "restart")):
        gone = event["detail"].split()[0] if event["detail"] else node
        yield gone, f"{gone} was killed: its last lines were not written"
    elif kind == "LINK_DOWN" and {node, peer} <= brokers:
        for direction in (f"{node}>{peer}", f"{peer}>{node}"):
            yield direction, "the stream was cut with messages under way"
    elif kind == "DROPPED" and event["type"] == "log_event":
        yield node, f"{node} lost part of its log: {event['detail']}"


def published_as_planned(e: Evidence) -> CheckResult:
    """A publisher that started late, or was too slow, makes fewer; the tables would not show it."""
    name = "publications as planned"
    if not any(client.publications for client in e.run.plan.clients):
        return CheckResult(name, "pass", "no client publishes")
    wanted = planned(e.run.plan, map(as_record, e.rare))
    if not wanted:
        return CheckResult(name, "unknown", "the last phase was never ready: nobody knows how many")
    made = e.health.published
    wrong = {client: due for client, due in wanted.items() if not due.holds(made.get(client, 0))}
    waiting = [client for client, due in wrong.items() if _waits(e.absences.get(client, ()), due)]
    told = differences({client: due for client, due in wrong.items() if client not in waiting}, made)
    if told:
        return CheckResult(name, "fail", summary(wanted, made), told[:EVIDENCE])
    kept = [f"{client} had no broker for its last ones" for client in waiting]
    return CheckResult(name, "pass", summary(wanted, made), kept[:EVIDENCE])


def _waits(absences: tuple[Absence, ...], due: Planned) -> bool:
    """It ended while it was without a broker, and with it what it kept until there is one."""
    return any(gone.start_us < end - SLACK_US and end < gone.end_us for gone in absences for end in due.ends)


def exactly_once(e: Evidence) -> list[CheckResult]:
    settled = int(e.losses.loc[e.losses["settled"], "pairs"].sum())
    results = []
    for outcome, name in (
        ("missing", "no missing delivery"),
        ("duplicate", "no duplicate delivery"),
        ("phantom", "no phantom delivery"),
    ):
        rows = e.losses[e.losses["outcome"] == outcome]
        count = int(rows["pairs"].sum())
        if count:
            text = f"{count} of {int(e.losses['pairs'].sum())} pairs"
            results.append(CheckResult(name, "fail", text, sorted(rows["example"])[:EVIDENCE]))
        elif outcome == "missing" and not e.demands:
            results.append(
                CheckResult(
                    name, "unknown", "no phase waits for settled subscriptions: nothing can be demanded"
                )
            )
        elif outcome == "missing" and not settled:
            results.append(CheckResult(name, "unknown", "no publication matches a settled subscription"))
        elif outcome == "phantom" and e.unreadable_filters:
            results.append(
                CheckResult(name, "unknown", f"{e.unreadable_filters} subscriptions cannot be read")
            )
        else:
            results.append(
                CheckResult(
                    name, "pass", f"{settled if outcome == 'missing' else int(e.losses['pairs'].sum())} pairs"
                )
            )
    return results


def causes_first(e: Evidence) -> CheckResult:
    name = "causes come first"
    early, orphans = int(e.losses["early"].sum()), int(e.losses["unpublished"].sum())
    if early:
        most = int(e.losses["early_max_us"].max())
        return CheckResult(name, "fail", f"{early} deliveries with an event up to {most} us before its cause")
    excused = e.health.torn or e.health.bad or any(event["kind"] == "CRASHED" for event in e.rare)
    if orphans:
        text = f"{orphans} deliveries of publications that nobody logged"
        return CheckResult(
            name, "unknown" if excused else "fail", text + (" (logs are torn)" if excused else "")
        )
    return CheckResult(name, "pass", f"{int(e.losses['copies'].sum())} deliveries")


def fidelity_kept(e: Evidence) -> CheckResult:
    name = "fidelity"
    broken = [*e.run.broken_probes, *e.run.broken_fidelity]
    if broken:
        return CheckResult(name, "fail", f"{broken[0]} cannot be read", broken[:EVIDENCE])
    given = e.run.fidelity
    judged = int(e.fidelity.loc[e.fidelity["source"] == "all", "probes"].sum())
    if given is not None and given.probes > judged:
        text = f"fidelity.json judges {given.probes} probes, and probes/*.jsonl have {judged}"
        return CheckResult(name, "fail", text)
    if given is not None and given.verdict in ("pass", "fail", "unknown"):
        return CheckResult(name, given.verdict, given.reason)  # type: ignore[arg-type]
    everything = e.fidelity[e.fidelity["source"] == "all"]
    if not len(everything):
        return CheckResult(name, "unknown", "no probes")
    relative, limit_us = limits(e.run)
    row = everything.iloc[0]
    allowed = max(limit_us, relative * row["planned_us"])
    lost = f"{row['lost']} of {row['probes']} lost"
    text = f"p99 error {row['error_p99_us']:.0f} us, allowed {allowed:.0f} us, {lost}"
    return CheckResult(name, "pass" if row["error_p99_us"] <= allowed else "fail", text)


def limits(run: Run) -> tuple[float, float]:
    """Largest error by the plan: a share of the round trip, and microseconds; the larger one holds."""
    real = run.manifest.clock == "real"
    return run.plan.probes.limit_relative or (0.05 if real else 0.01), run.plan.probes.limit_us or (
        1000 if real else 200
    )
