"""The Vagrantfile is valid, and its size can be set."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

needs_vagrant = pytest.mark.skipif(shutil.which("vagrant") is None, reason="vagrant is not installed")


def validate(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`--ignore-provider`: the machine that runs the tests need not have VirtualBox or libvirt."""
    return subprocess.run(
        ["vagrant", "validate", "--ignore-provider"],
        cwd=folder,
        env={**os.environ, "VAGRANT_HOME": str(folder / "home"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path, repository: Path) -> Path:
    shutil.copy(repository / "Vagrantfile", tmp_path)
    shutil.copytree(repository / "scripts", tmp_path / "scripts")
    return tmp_path


@needs_vagrant
def test_vagrant_accepts_the_file(folder: Path) -> None:
    done = validate(folder, TESTBED_CPUS="8", TESTBED_MEMORY="16384")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_vagrant
def test_vagrant_notices_a_missing_provisioning_script(folder: Path) -> None:
    (folder / "scripts" / "provision").unlink()
    assert validate(folder).returncode != 0


@needs_vagrant
def test_a_size_that_is_no_number_is_refused(folder: Path) -> None:
    assert validate(folder, TESTBED_MEMORY="plenty").returncode != 0


@pytest.mark.skipif(shutil.which("ruby") is None, reason="ruby is not installed")
def test_the_file_is_ruby(repository: Path) -> None:
    done = subprocess.run(
        ["ruby", "-c", repository / "Vagrantfile"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
