"""The set-up scripts against machines that lack this or that, made of stand-in commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest


class Machine:
    """A search path of stand-ins in front of the real commands, and a home of its own."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self.bin = folder / "bin"
        self.home = folder / "home"
        self.packages = folder / "packages.txt"
        self.calls = folder / "calls"
        self.scripts = repository / "scripts"
        self.bin.mkdir()
        self.home.mkdir()
        self.packages.write_text(
            "alpha # first letter\nbeta  # second letter\n\n# a remark\ngamma # third letter\n"
        )

    def add(self, name: str, script: str) -> None:
        path = self.bin / name
        path.write_text(f'#!/bin/bash\necho "{name} $*" >> {self.calls}\n{script}\n')
        path.chmod(0o755)

    def installed(self, *names: str) -> None:
        """dpkg-query as it answers: known packages on standard output, exit code 1 when one is unknown."""
        lines = "".join(f"echo 'installed {name}'; " for name in names)
        self.add("dpkg-query", f"echo 'config-files beta'; {lines} exit 1")

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.scripts / script],
            env={
                "PATH": f"{self.bin}:/usr/bin:/bin",
                "HOME": str(self.home),
                "PACKAGE_LIST": str(self.packages),
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
        )

    def called(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture
def machine(tmp_path: Path, repository: Path) -> Machine:
    return Machine(tmp_path, repository)


# ---- install-system-packages ------------------------------------------------------------------------------


def test_nothing_missing_nothing_said_nothing_done(machine: Machine) -> None:
    machine.installed("alpha", "beta", "gamma")
    machine.add("apt-get", "exit 1")
    done = machine.run("install-system-packages")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not [call for call in machine.called() if call.startswith("apt-get")]


def test_a_plain_user_gets_one_sudo_line_with_what_is_missing(machine: Machine) -> None:
    machine.installed("alpha")
    machine.add("id", "echo 1000")
    machine.add("apt-get", "exit 0")
    done = machine.run("install-system-packages")
    assert done.returncode == 1
    lines = [line.strip() for line in done.stderr.splitlines() if "sudo" in line]
    assert len(lines) == 1
    assert lines[0].endswith("sudo apt-get install -y --no-install-recommends beta gamma")
    assert not [call for call in machine.called() if call.startswith("apt-get")]


def test_a_user_who_can_never_be_root_may_go_on(machine: Machine) -> None:
    machine.installed("alpha")
    machine.add("id", "echo 1000")
    done = machine.run("install-system-packages", SYSTEM_PACKAGES="skip")
    assert done.returncode == 0
    assert re.search(r"beta\s+second letter", done.stderr)


def test_root_installs_all_missing_in_one_go(machine: Machine) -> None:
    state = machine.home / "installed"
    machine.add("dpkg-query", f"echo installed alpha; cat {state} 2>/dev/null; exit 0")
    machine.add("id", "echo 0")
    machine.add(
        "apt-get", f'[[ $* == *install* ]] && printf "installed beta\\ninstalled gamma\\n" > {state} || true'
    )
    done = machine.run("install-system-packages")
    assert done.returncode == 0, done.stderr
    installs = [call for call in machine.called() if call.startswith("apt-get") and "install" in call]
    assert len(installs) == 1
    assert installs[0].endswith("beta gamma")


def test_the_package_that_could_not_be_had_is_named_and_the_others_are_installed(machine: Machine) -> None:
    """As without network for one of them: the transaction fails, then each one is tried alone."""
    state = machine.home / "installed"
    machine.add("dpkg-query", f"echo installed alpha; cat {state} 2>/dev/null; exit 0")
    machine.add("id", "echo 0")
    machine.add(
        "apt-get",
        f"[[ $* == *beta* ]] && exit 100; [[ $* == *gamma ]] && echo installed gamma > {state}; exit 0",
    )
    done = machine.run("install-system-packages")
    assert done.returncode == 1
    assert re.search(r"could not be had:\n\s+beta\s+second letter\nfix: ", done.stderr)
    assert "third letter" not in done.stderr


def test_every_listed_package_has_a_reason(repository: Path) -> None:
    lines = (repository / "scripts" / "debian-packages.txt").read_text().splitlines()
    entries = [line for line in lines if line.strip() and not line.startswith("#")]
    assert len(entries) > 10
    for entry in entries:
        assert re.fullmatch(r"[a-z0-9.+-]+\s+# \S.{5,}", entry), entry


# ---- setup-python -----------------------------------------------------------------------------------------


def test_an_installed_uv_is_used(machine: Machine) -> None:
    machine.add("uv", "[[ $1 == --version ]] && echo 'uv 0.13.7'; exit 0")
    assert machine.run("setup-python").returncode == 0
    assert machine.called()[-1] == "uv sync --frozen --inexact"


def test_an_old_uv_is_not_used(machine: Machine) -> None:
    machine.add("uv", "[[ $1 == --version ]] && echo 'uv 0.4.1'; exit 0")
    machine.add("python3", "exit 1")
    done = machine.run("setup-python")
    assert done.returncode == 1
    assert "uv sync --frozen --inexact" not in machine.called()
    assert "fix: sudo apt-get install -y python3-venv" in done.stderr


FAKE_VENV = """
mkdir -p "$3/bin"
printf '#!/bin/bash\\nexit %s\\n' "$PIP_CODE" > "$3/bin/python"
printf '#!/bin/bash\\n[[ $1 == --version ]] && echo "uv 0.13.7"; exit 0\\n' > "$3/bin/uv"
chmod +x "$3/bin/python" "$3/bin/uv"
"""


def test_without_uv_a_private_one_is_installed_once(machine: Machine) -> None:
    machine.add("python3", FAKE_VENV)
    assert machine.run("setup-python", PIP_CODE="0").returncode == 0
    assert machine.run("setup-python", PIP_CODE="0").returncode == 0
    private = machine.home / ".cache" / "pubsub-testbed"
    assert (private / "uv" / "bin" / "uv").exists()
    assert machine.called() == [f"python3 -m venv {private}/uv.part"]


def test_a_private_uv_that_could_not_be_had_is_named_and_not_kept(machine: Machine) -> None:
    machine.add("python3", FAKE_VENV)
    done = machine.run("setup-python", PIP_CODE="1")
    assert done.returncode == 1
    assert "error: the Python package uv could not be had" in done.stderr
    assert not (machine.home / ".cache" / "pubsub-testbed" / "uv").exists()
    assert machine.run("setup-python", PIP_CODE="0").returncode == 0


def test_a_failed_download_says_so(machine: Machine) -> None:
    machine.add(
        "uv", "[[ $1 == --version ]] && echo 'uv 0.13.7' && exit 0; echo 'Failed to fetch numpy' >&2; exit 2"
    )
    done = machine.run("setup-python")
    assert done.returncode == 1
    assert "Failed to fetch numpy" in done.stderr
    assert "fix: check the network" in done.stderr


# ---- run-tests --------------------------------------------------------------------------------------------


@pytest.fixture
def sample_project(tmp_path: Path, repository: Path) -> Path:
    """A project whose tests are four functions, run by the real script and the real pytest."""
    shutil.copytree(repository / "scripts", tmp_path / "scripts")
    (tmp_path / ".venv").symlink_to(repository / ".venv")
    shutil.copy(repository / "pyproject.toml", tmp_path)
    (tmp_path / "tests").mkdir()
    return tmp_path


def run_groups(folder: Path, tests: str, *groups: str) -> subprocess.CompletedProcess[str]:
    (folder / "tests" / "test_sample.py").write_text("import pytest\n" + tests)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return subprocess.run(
        [folder / "scripts" / "run-tests", *groups],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


SAMPLE = """
def test_fast(): pass
@pytest.mark.guest
def test_guest(): assert GUEST
@pytest.mark.nightly
def test_nightly(): assert False
@pytest.mark.spark
def test_spark(): pytest.skip("no Java on this sample")
"""


def test_groups_run_in_order_and_the_nightly_ones_are_left_out(sample_project: Path) -> None:
    done = run_groups(sample_project, "GUEST = True" + SAMPLE, "fast", "spark", "guest")
    assert done.returncode == 0, done.stdout
    assert re.search(r"tests: fast\n.*tests: spark\n.*tests: guest\n", done.stdout, re.DOTALL)
    assert "no Java on this sample" in done.stdout


def test_a_failure_in_one_group_does_not_hide_the_next(sample_project: Path) -> None:
    done = run_groups(sample_project, "GUEST = False" + SAMPLE, "guest", "fast")
    assert done.returncode == 1
    assert "FAILED: guest" in done.stderr
    assert "1 passed" in done.stdout


def test_a_module_that_cannot_be_imported_fails_its_group_and_hides_nothing(sample_project: Path) -> None:
    (sample_project / "tests" / "test_broken.py").write_text("import there_is_no_such_module\n")
    done = run_groups(sample_project, "GUEST = True" + SAMPLE, "fast", "guest")
    assert done.returncode == 1
    assert "1 passed" in done.stdout
    assert "tests: guest" in done.stdout


def test_no_fast_test_at_all_is_a_failure(sample_project: Path) -> None:
    assert run_groups(sample_project, "", "fast").returncode == 1
    assert run_groups(sample_project, "", "spark").returncode == 0


def test_unknown_group_is_wrong_use(sample_project: Path) -> None:
    assert run_groups(sample_project, SAMPLE, "quick").returncode == 2


# ---- quickstart -------------------------------------------------------------------------------------------


class Quickstart:
    """The real script beside a stand-in for the command line."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self.folder = folder
        (folder / "scripts").mkdir()
        (folder / ".venv" / "bin").mkdir(parents=True)
        shutil.copy(repository / "scripts" / "quickstart", folder / "scripts")
        (folder / "first.yaml").write_text("name: first-try\nseed: 1\n")

    def run(self, testbed: str) -> subprocess.CompletedProcess[str]:
        command = self.folder / ".venv" / "bin" / "testbed"
        command.write_text(f'#!/bin/bash\necho "$*" >> calls\n{testbed}\n')
        command.chmod(0o755)
        script = self.folder / "scripts" / "quickstart"
        return subprocess.run([script, "first.yaml"], capture_output=True, text=True, check=False)

    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()


RUN = "mkdir -p results/first-try/r1 && ln -sfn r1 results/first-try/latest"
PAGE = "touch results/first-try/latest/report.html"


@pytest.fixture
def quickstart(tmp_path: Path, repository: Path) -> Quickstart:
    return Quickstart(tmp_path, repository)


def test_quickstart_deploys_analyses_reports_and_says_where(quickstart: Quickstart) -> None:
    done = quickstart.run(f"[[ $1 == deploy ]] && {RUN}; [[ $1 == report ]] && {PAGE}; exit 0")
    assert done.returncode == 0
    assert quickstart.calls() == [
        "deploy first.yaml",
        "analyze results/first-try/latest",
        "report results/first-try/latest",
    ]
    assert f"{quickstart.folder}/results/first-try/r1/report.html" in done.stdout


def test_a_report_is_named_only_where_there_is_one(quickstart: Quickstart) -> None:
    done = quickstart.run(f"[[ $1 == deploy ]] && {RUN}; [[ $1 != report ]]")
    assert done.returncode == 1
    assert "report.html" not in done.stdout


def test_a_failed_check_does_not_hide_the_report_but_shows_in_the_exit_code(quickstart: Quickstart) -> None:
    done = quickstart.run(f"[[ $1 == deploy ]] && {RUN}; [[ $1 != analyze ]]")
    assert done.returncode == 1
    assert quickstart.calls()[-1] == "report results/first-try/latest"


def test_a_bad_file_is_not_followed_by_an_analysis_of_an_older_run(quickstart: Quickstart) -> None:
    older = quickstart.folder / "results" / "first-try"
    older.mkdir(parents=True)
    (older / "latest").symlink_to("r0")
    done = quickstart.run("exit 2")
    assert done.returncode == 2
    assert quickstart.calls() == ["deploy first.yaml"]


def test_a_machine_that_no_guest_kernel_runs_on_is_told_and_set_up_all_the_same(repository: Path) -> None:
    """The rest of `make setup` follows."""
    environment = os.environ | {"TESTBED_MACHINE": "aarch64"}
    script = repository / "scripts" / "setup-kernel"
    done = subprocess.run([script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "the guest engine needs x86_64 and this is aarch64" in done.stderr
