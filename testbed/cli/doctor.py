"""`testbed doctor`: what this machine can do, and how to repair what it cannot."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from testbed.doctor.engines import Choice
    from testbed.doctor.finding import Finding

MARKS = {"ok": "[green]ok[/]", "missing": "[red]missing[/]", "note": "[yellow]note[/]"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of the table.")
def command(as_json: bool) -> int:
    """Say what this machine can do, and how to repair what it cannot.

    Everything is tried, not guessed: a netem qdisc is added in a throw-away namespace, a switch datapath is
    made, Java is started. Nothing is left behind. The exit code is 1 when no engine can run here.

    \b
    Examples:
      testbed doctor
      testbed doctor --json | jq .engine
    """
    from testbed.doctor.engines import choose
    from testbed.doctor.examination import examine

    findings = examine()
    choice = choose(findings)
    if as_json:
        click.echo(json.dumps(as_document(findings, choice), indent=2))
    else:
        print_report(findings, choice)
    return 0 if choice.engine else 1


def as_document(findings: list[Finding], choice: Choice) -> dict[str, object]:
    return {
        "engine": choice.engine,
        "reason": choice.reason,
        "findings": [
            {
                "name": finding.name,
                "state": finding.state.value,
                "detail": finding.detail,
                "fix": finding.fix,
                "wanted_by": list(finding.wanted_by),
            }
            for finding in findings
        ],
    }


def print_report(findings: list[Finding], choice: Choice) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("what", "", "found"):
        table.add_column(title, overflow="fold")
    for finding in findings:
        table.add_row(finding.name, MARKS[finding.state], escape(finding.detail))
    console = Console(soft_wrap=False)
    console.print(table)
    console.print(f"\nengine auto: [bold]{choice.engine or 'none'}[/] ({escape(choice.reason)})")
    print_fixes(findings)


def print_fixes(findings: list[Finding]) -> None:
    """Plain lines, never wrapped: they are there to be copied."""
    fixes = [finding for finding in findings if finding.fix]
    if fixes:
        click.echo("\nto repair:")
    for finding in fixes:
        wanted = f" (for {', '.join(finding.wanted_by)})" if finding.wanted_by else ""
        click.echo(f"  {finding.name}{wanted}:\n    {finding.fix}")
