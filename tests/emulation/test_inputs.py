"""Every file that a plan names is in the run folder, and what runs reads the copy: today and in a rerun."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.cli.app import main
from testbed.run.deploy import prepare
from testbed.run.folder import RunFolder
from testbed.run.inputs import files, named, runnable
from testbed.topology.load import load_plan_file
from testbed.topology.plan import Plan

TOPOLOGY = """\
name: files
duration: 5s
network: {generator: chain, nodes: 2}
brokers: {B: {count: 2}}
clients:
  p: {broker: B1, publish: {source: trace, rate: 2/s, parameters: {file: quotes.txt}}}
  s: {broker: B2, subscribe: ["[class,eq,'A']"]}
"""
PROGRAMS = """\
programs:
  tool:
    node: B1
    command: [./tool.sh, --config=settings.ini, "0.5", name, /etc/hostname]
    env: {TABLE: settings.ini}
phases:
  - name: all
    start: [brokers, programs, clients]
    ready: {check: [sh, tool.sh], check_node: B1}
    run_for: 1s
"""


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "quotes.txt").write_text("[class,'A'],[x,1]\n[class,'A'],[x,2]\n[class,'B'],[x,3]\n")
    (folder / "settings.ini").write_text("[all]\n")
    (folder / "tool.sh").write_text("#!/bin/sh\necho tool\n")
    (folder / "tool.sh").chmod(0o755)
    path = folder / "files.yaml"
    path.write_text(TOPOLOGY)
    return path


def made(topology: Path, results: Path) -> tuple[Plan, RunFolder]:
    plan = load_plan_file(topology)
    return plan, prepare(plan, topology, results, "simulate", "simulated")


def test_files_of_sources_programs_and_gates_are_copied(topology: Path, tmp_path: Path) -> None:
    topology.write_text(TOPOLOGY + PROGRAMS)
    plan, folder = made(topology, tmp_path / "results")
    kept = folder.read_plan()
    (tool,) = kept.programs
    assert tool.argv[0].startswith("inputs/")
    assert tool.argv[1].startswith("--config=inputs/")
    assert tool.argv[2:] == ["0.5", "name", "/etc/hostname"]  # what is no file, and what every machine has
    assert tool.env["TABLE"].startswith("inputs/")
    assert tool.env["TABLE"].endswith("-settings.ini")
    assert kept.phases[0].gate.check[1] == tool.argv[0]
    copies = sorted(path.name.partition("-")[2] for path in (folder.path / "inputs").iterdir())
    assert copies == ["quotes.txt", "settings.ini", "tool.sh"]
    assert (folder.path / tool.argv[0]).stat().st_mode & 0o111
    assert kept == named(plan)
    assert {path.name for path in files(plan)} == {"quotes.txt", "settings.ini", "tool.sh"}


def test_a_program_of_the_machine_stays_where_it_is(topology: Path, tmp_path: Path) -> None:
    """Without what lies beside it, it would not start."""
    own = topology.parent / "python"
    own.write_bytes(b"\x7fELF")
    topology.write_text(TOPOLOGY + f"programs: {{tool: {{node: B1, command: [{own}, -V]}}}}\n")
    _, folder = made(topology, tmp_path / "results")
    assert folder.read_plan().programs[0].argv == [str(own), "-V"]


def test_a_copy_of_a_copy_is_the_same_plan(topology: Path, tmp_path: Path) -> None:
    _, folder = made(topology, tmp_path / "results")
    again = prepare(runnable(folder), folder.topology, tmp_path / "other", "simulate", "simulated")
    assert again.plan.read_bytes() == folder.plan.read_bytes()
    assert [p.name for p in again.path.joinpath("inputs").iterdir()] == [
        p.name for p in folder.path.joinpath("inputs").iterdir()
    ]


def test_other_content_is_another_plan(topology: Path) -> None:
    before = named(load_plan_file(topology))
    (topology.parent / "quotes.txt").write_text("[class,'A'],[x,9]\n")
    assert named(load_plan_file(topology)) != before


def test_a_plan_without_files_is_the_very_plan(topology: Path) -> None:
    topology.write_text(
        TOPOLOGY.replace("source: trace", "source: topic").replace("file: quotes.txt", "topic: A")
    )
    plan = load_plan_file(topology)
    assert named(plan) is plan


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(ended.value.code or 0)


def test_a_rerun_reads_what_the_run_kept(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"
    assert run("deploy", topology, "--engine", "simulate", "--results", results) == 0
    first = (results / "files" / "latest").resolve()
    (topology.parent / "quotes.txt").unlink()
    monkeypatch.chdir(tmp_path)
    assert run("rerun", first, "--results", results, "--no-diff") == 0
    second = (results / "files" / "latest").resolve()
    assert second != first
    events = [(folder / "events" / "simulation.jsonl").read_bytes() for folder in (first, second)]
    assert events[0] == events[1]
    assert b"DELIVERED" in events[0]
