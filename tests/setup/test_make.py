"""The make targets: what is skipped, what runs again, what an interruption leaves. Steps are stand-ins."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

STEPS = (
    "install-system-packages",
    "setup-python",
    "setup-kernel",
    "setup-spark-archive",
    "run-tests",
    "quickstart",
)


class Project:
    """A folder with the real Makefile and steps that only write their name into `journal`."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self.folder = folder
        self.journal = folder / "journal"
        shutil.copy(repository / "Makefile", folder)
        (folder / "pyproject.toml").touch()
        (folder / "uv.lock").touch()
        for step in STEPS:
            self.write(step, f'echo "{step} $*" >> journal')
        self.write("setup-python", "echo 'setup-python ' >> journal; mkdir -p .venv/bin")
        self.command("python", 'echo "python $*" >> journal')

    def write(self, step: str, script: str) -> None:
        self._script(self.folder / "scripts" / step, script)

    def command(self, name: str, script: str) -> None:
        self._script(self.folder / ".venv" / "bin" / name, script)

    def _script(self, path: Path, script: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def make(self, *targets: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        return subprocess.run(
            ["make", *targets], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )

    def steps(self) -> list[str]:
        """What has run since the last look."""
        lines = self.journal.read_text().splitlines() if self.journal.exists() else []
        self.journal.unlink(missing_ok=True)
        return [line.strip() for line in lines]


@pytest.fixture
def project(tmp_path: Path, repository: Path) -> Project:
    return Project(tmp_path, repository)


CHECKED = "python -m protos.generate --check"
FAST = ["install-system-packages", CHECKED, "setup-kernel", "setup-spark-archive"]


def test_the_default_target_only_explains(project: Project) -> None:
    done = project.make()
    assert done.returncode == 0
    assert "make quickstart" in done.stdout
    assert "make test" in done.stdout
    assert project.steps() == []


def test_setup_runs_the_steps_in_order(project: Project) -> None:
    assert project.make("setup").returncode == 0
    assert project.steps() == [
        "install-system-packages",
        "setup-python",
        CHECKED,
        "setup-kernel",
        "setup-spark-archive",
    ]


def test_the_python_step_is_skipped_when_it_is_done(project: Project) -> None:
    project.make("setup")
    project.steps()
    assert project.make("setup").returncode == 0
    assert project.steps() == FAST


@pytest.mark.parametrize("changed", ["uv.lock", "pyproject.toml"])
def test_the_python_step_runs_again_when_the_lock_changes(project: Project, changed: str) -> None:
    project.make("setup")
    project.steps()
    later = time.time() + 5
    os.utime(project.folder / changed, (later, later))
    project.make("setup")
    assert "setup-python" in project.steps()


def test_a_failed_step_stops_there_and_is_tried_again(project: Project) -> None:
    project.write("setup-python", "mkdir -p .venv/bin; echo 'setup-python ' >> journal; exit 1")
    assert project.make("setup").returncode == 2
    assert project.steps() == ["install-system-packages", "setup-python"]
    project.write("setup-python", "echo 'setup-python ' >> journal")
    assert project.make("setup").returncode == 0
    assert project.steps()[:2] == ["install-system-packages", "setup-python"]


def test_stale_generated_code_is_made_again(project: Project) -> None:
    stale_when_checked = 'echo "python $*" >> journal; [[ $* != *--check ]]'
    project.command("python", stale_when_checked)
    assert project.make("setup").returncode == 0
    assert "python -m protos.generate" in project.steps()


def test_make_test_sets_up_and_runs_every_group_but_the_nightly_one(project: Project) -> None:
    assert project.make("test").returncode == 0
    assert project.steps()[-1] == "run-tests fast spark browser guest"


def test_make_nightly_runs_all(project: Project) -> None:
    project.make("nightly")
    assert project.steps()[-1] == "run-tests fast spark browser guest nightly"


def test_make_quickstart_sets_up_first(project: Project) -> None:
    project.make("quickstart")
    steps = project.steps()
    assert steps.index("setup-kernel") < steps.index("quickstart")


def test_failing_tests_fail_make(project: Project) -> None:
    project.write("run-tests", "exit 1")
    assert project.make("test").returncode == 2


def test_ci_calls_exactly_make_test(tmp_path: Path, repository: Path) -> None:
    fake = tmp_path / "make"
    fake.write_text(f'#!/bin/sh\necho "$PWD: make $*" >> {tmp_path}/calls\nexit 7\n')
    fake.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([repository / ".ci" / "run"], cwd="/", env=environment, check=False)
    assert done.returncode == 7
    assert (tmp_path / "calls").read_text() == f"{repository}: make test\n"
