"""`sudo testbed`: what it makes belongs to the user who asked, and what root left behind is named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.run.asker import asker, remedy, whose
from testbed.run.repository import git_state

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: gives files away")
SOMEBODY = 12345
TOPOLOGY = """\
name: two
duration: 1s
network: {generator: chain, nodes: 2, link: {latency: 1ms}}
brokers: {B: {count: 2}}
overlay: {generator: chain}
"""


def run_testbed(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from testbed.cli import main; main()", *arguments]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)


@ROOT_ONLY
def test_all_that_a_run_under_sudo_makes_is_the_askers(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(TOPOLOGY)
    results = tmp_path / "results"
    arguments = "deploy", str(tmp_path / "two.yaml"), "--engine", "simulate", "--results", str(results)
    done = run_testbed(*arguments, SUDO_UID=str(SOMEBODY), SUDO_GID=str(SOMEBODY))
    assert done.returncode == 0, done.stderr
    made = [results, *results.rglob("*")]
    assert {"latest", "manifest.json", "plan.json"} <= {path.name for path in made}
    assert {(path.lstat().st_uid, path.lstat().st_gid) for path in made} == {(SOMEBODY, SOMEBODY)}


def test_a_user_and_a_root_who_is_root_ask_for_themselves() -> None:
    assert asker({}) is None
    assert asker({"SUDO_UID": "0", "SUDO_GID": "0"}) is None
    assert asker({"SUDO_UID": "x", "SUDO_GID": "1"}) is None


@ROOT_ONLY
def test_what_root_left_in_a_users_folder_is_named_with_its_remedy(tmp_path: Path) -> None:
    run = tmp_path / "clone" / "results" / "quickstart" / "1"
    run.mkdir(parents=True)
    os.chown(tmp_path / "clone", SOMEBODY, SOMEBODY)
    assert whose(run / "tables", SOMEBODY) == (tmp_path / "clone" / "results", "root")
    said, fix = remedy(run / "tables", SOMEBODY) or ("", "")
    assert said == f"{tmp_path}/clone/results belongs to root"
    assert fix == f"sudo chown -R {SOMEBODY}: {tmp_path}/clone/results"
    os.chown(run, SOMEBODY, SOMEBODY)
    assert whose(run / "tables", SOMEBODY) is None


def test_nobody_is_told_to_take_a_folder_of_the_system() -> None:
    assert whose(Path("/etc/hostname"), SOMEBODY) is None


@ROOT_ONLY
def test_the_commit_is_known_in_a_users_clone_and_missing_results_are_no_change(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / "results").mkdir(parents=True)
    (clone / "code.py").write_text("1\n")
    (clone / "results" / "table.csv").write_text("1\n")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=clone, check=True)
    for path in (clone, *clone.rglob("*")):
        os.chown(path, SOMEBODY, SOMEBODY)
    (clone / "results" / "table.csv").unlink()
    commit, dirty = git_state(clone)
    assert len(commit) == 40
    assert not dirty
    (clone / "code.py").write_text("2\n")
    assert git_state(clone) == (commit, True)
