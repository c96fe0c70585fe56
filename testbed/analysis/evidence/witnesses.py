"""Whether every witness is there that plan and harness promise: the logs of all processes, and captures."""

from __future__ import annotations

from pathlib import Path

from testbed.analysis.evidence.check_result import CheckResult
from testbed.analysis.evidence.runs import Run

Rows = list[dict[str, object]]
EVIDENCE = 10
CAPTURE_MAGIC = (
    b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1", b"\x0a\x0d\x0d\x0a",
)  # fmt: skip
BEGIN = ("start", "join", "restart")


def started(run: Run, rare: Rows) -> set[str]:
    """Processes that the harness says it started; by the plan alone when it says nothing."""
    if not run.plan.phases:
        return run.brokers | {client.id for client in run.plan.clients}
    reached = {event["detail"] for event in rare if event["kind"] in ("PHASE_STARTED", "PHASE_READY")}
    phases = [phase for phase in run.plan.phases if phase.name in reached or not reached]
    begun = {event["detail"] for event in rare if event["kind"] == "FAULT_STARTED" and event["type"] in BEGIN}
    by_events = {event.target for event in run.plan.events if event.action in BEGIN}
    return {process for phase in phases for process in phase.start} | (
        by_events & begun if reached else by_events
    )


def every_client_logged(run: Run, rare: Rows, speaking: set[str]) -> CheckResult:
    name = "every client logged"
    clients = [client for client in run.plan.clients if client.id in started(run, rare)]
    silent = [
        f"{client.id} ({_log_of(run, client.id, client.node)})"
        for client in clients
        if client.id not in speaking
    ]
    if silent:
        return CheckResult(
            name, "fail", f"{len(silent)} clients have no event in the logs", silent[:EVIDENCE]
        )
    return CheckResult(name, "pass", f"{len(clients)} clients")


def _log_of(run: Run, client: str, node: str) -> str:
    """The file in which the client's events should be."""
    if run.manifest.engine == "simulate":
        return "events/simulation.jsonl"
    own = run.folder.events / f"{client}.jsonl"
    return f"events/{own.name}" if own.exists() else f"events/clients-{node}.jsonl"


def harness_logged(run: Run, rare: Rows, speaking: set[str]) -> CheckResult:
    """Without the harness's log nobody knows which faults there were, and when the run ended."""
    name = "the harness logged"
    file = "events/simulation.jsonl" if run.manifest.engine == "simulate" else "events/harness.jsonl"
    if "harness" not in speaking:
        return CheckResult(name, "fail", f"{file} is missing or has no event of the harness", [file])
    if run.manifest.status == "done" and not any(event["kind"] == "RUN_ENDED" for event in rare):
        return CheckResult(name, "fail", f"{file} does not say that the run ended, and it did", [file])
    return CheckResult(name, "pass", file)


def every_capture_there(run: Run) -> CheckResult:
    """Every file that the manifest names can be read as a capture, and every host of the plan has one."""
    name = "every capture is there"
    if run.manifest.engine == "simulate" or not run.plan.capture.enabled:
        return CheckResult(name, "unknown", "the run made no captures; tables come from the logs alone")
    wrong = [f"{file}: {why}" for file in _promised(run) if (why := _unreadable(run.folder.path / file))]
    listed = {capture.node for capture in run.manifest.captures} | {capture.node for capture in run.captures}
    hosts = run.plan.capture.nodes or sorted({broker.node for broker in run.plan.brokers})
    wrong += [f"pcap/{host}-*.pcap: missing" for host in hosts if host not in listed]
    if wrong:
        return CheckResult(name, "fail", f"{len(wrong)} captures are missing or unreadable", wrong[:EVIDENCE])
    return CheckResult(name, "pass", f"{len(hosts)} hosts")


def _promised(run: Run) -> list[str]:
    there = [f"pcap/{Path(capture.path).name}" for capture in run.captures]
    return sorted({*there, *(capture.file for capture in run.manifest.captures)})


def _unreadable(path: Path) -> str:
    """Why the file cannot be read as a capture; "" when it can."""
    try:
        with path.open("rb") as file:
            head = file.read(24)
    except OSError as error:
        return "missing" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
    if not head:
        return "empty"
    return "" if head[:4] in CAPTURE_MAGIC else "no capture"
