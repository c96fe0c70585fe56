"""The import contracts hold, and each of them notices the import it is there to forbid."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = ("protos", "broker_grpc", "testbed", "experiments")
COMMAND = "from importlinter.cli import lint_imports_command as run; run(['--no-cache'])"

# One import per contract that breaks that one.
VIOLATIONS = {
    "broker_grpc/intruder.py": ("import testbed.errors", "protos <- broker_grpc <- testbed <- experiments"),
    "testbed/doctor/intruder.py": ("import testbed.cli.app", "Nothing imports the command line"),
    "testbed/topology/intruder.py": (
        "import subprocess",
        "Describing an experiment needs no network, no process and no engine",
    ),
    "broker_grpc/content/intruder.py": (
        "import time",
        "A machine touches no socket, no clock and no thread",
    ),
    "broker_grpc/protocols/contentbased/intruder.py": (
        "import broker_grpc.protocols.relocation.pop",
        "Protocols build on each other one way",
    ),
    "broker_grpc/core/intruder.py": (
        "import broker_grpc.protocols.contentbased.broker",
        "machine <- content <- core <- registry <- protocols, process",
    ),
    "broker_grpc/process/intruder.py": (
        "import broker_grpc.protocols.relocation.pop",
        "Only the registry finds a protocol, and it knows none by name",
    ),
    "testbed/simulation/intruder.py": (
        "import testbed.emulation.runner.emulated_run",
        "The simulator and the emulated engines know nothing of each other",
    ),
    "testbed/run/intruder.py": (
        "import testbed.simulation.engine",
        "What engines share knows none of them",
    ),
    "testbed/analysis/intruder.py": (
        "import mininet",
        "Analysis knows run folders, not brokers or engines",
    ),
    "testbed/emulation/intruder.py": ("import pyspark", "An engine starts no Spark"),
}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", COMMAND],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path, repository: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(
            repository / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(repository / ".importlinter", tmp_path)
    return tmp_path


def test_the_contracts_hold(repository: Path) -> None:
    done = lint(repository)
    assert done.returncode == 0, done.stdout


def test_every_contract_notices_its_violation(copy: Path) -> None:
    for place, (statement, _) in VIOLATIONS.items():
        (copy / place).write_text(statement + "\n")
    done = lint(copy)
    assert done.returncode == 1
    for _, contract in VIOLATIONS.values():
        assert f"{contract} BROKEN" in done.stdout


def test_every_contract_has_a_violation_here(repository: Path) -> None:
    contracts = configparser.ConfigParser()
    contracts.read(repository / ".importlinter")
    names = {contracts[section]["name"] for section in contracts.sections() if "contract" in section}
    assert names == {contract for _, contract in VIOLATIONS.values()}


def test_a_folder_that_no_contract_places_is_noticed(copy: Path) -> None:
    (copy / "testbed" / "newcomer").mkdir()
    (copy / "testbed" / "newcomer" / "__init__.py").touch()
    assert "testbed.newcomer" in lint(copy).stdout


def test_tests_are_packages_that_import_each_other_by_their_full_names(repository: Path) -> None:
    """A folder that is no package would be put on `sys.path`, where of two modules with one name all get the
    first; pushing folders there by hand does the same."""
    modules = [path for path in (repository / "tests").rglob("*.py") if path.name != "__init__.py"]
    assert [path.parent for path in modules if not (path.parent / "__init__.py").exists()] == []
    modules += (repository / "benchmarks").rglob("*.py")  # they use the tests' references
    pushed = re.compile(r"\bsys\.path\.(insert|append|extend)")
    assert [path for path in modules if path != Path(__file__) and pushed.search(path.read_text())] == []
