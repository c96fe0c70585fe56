"""A newer kernel source without root, and what set-up does when it cannot be had or does not build."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from testbed.emulation.kernel import fetch, source
from testbed.emulation.kernel.fetch import FetchFailed
from testbed.emulation.kernel.folders import source_folder

ROOT = Path(__file__).parents[2]
INDEX = "Package: linux-source\n\nPackage: linux-source-{}\nArchitecture: all\n"

# Answers as apt does: update writes an index, download a package. FAIL names the step that fails.
APT = """#!/bin/bash
for word; do case $word in
  Dir::State=*) state=${word#*=} ;;
  indextargets) echo "Debian main bookworm http://mirror.example/debian/"; exit ;;
  update) step=update ;;
  download) step=download ;;
esac; done
[[ $step == "$FAIL" ]] && { echo "E: no route to the mirror" >&2; exit 100; }
if [[ $step == update ]]; then echo "$INDEX" > "$state/lists/backports_Packages"
else dpkg-deb --build --root-owner-group -Znone "$PACKAGE" "${@: -1}_1.0_all.deb" >/dev/null; fi
"""


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an apt of ours and a package linux-source-7.2 for it; answers the package's folder."""
    if shutil.which("dpkg-deb") is None:
        pytest.skip("dpkg-deb is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "apt-get").write_text(APT)
    (tools / "apt-get").chmod(0o755)
    package = tmp_path / "package"
    (package / "DEBIAN").mkdir(parents=True)
    (package / "DEBIAN" / "control").write_text(
        "Package: linux-source-7.2\nVersion: 1.0\nArchitecture: all\nMaintainer: x <x@y>\nDescription: x\n"
    )
    (package / "usr" / "src").mkdir(parents=True)
    (package / "usr" / "src" / "linux-source-7.2.tar.xz").write_bytes(b"the kernel")
    (tmp_path / "keyring.gpg").touch()
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("PACKAGE", str(package))
    monkeypatch.setenv("INDEX", INDEX.format("7.2"))
    monkeypatch.setenv("FAIL", "")
    return package


def fetched(debian: Path, keyring: str = "keyring.gpg") -> source.Source:
    """On that machine, where no kernel source is installed."""
    return fetch.fetch(debian.parent / keyring, debian.parent / "src")


def test_the_archive_lands_in_the_cache_and_is_taken_by_the_next_build(debian: Path) -> None:
    found = fetched(debian)
    assert found.archive == source_folder() / "linux-source-7.2.tar.xz"
    assert found.archive.read_bytes() == b"the kernel"
    assert source.candidates(debian.parent / "src")[0] == found
    assert [path.name for path in source_folder().iterdir()] == [found.archive.name], "nothing else stays"


def test_what_is_there_is_not_fetched_again(debian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = fetched(debian)
    monkeypatch.setenv("FAIL", "update")
    assert fetched(debian) == first


@pytest.mark.parametrize("step", ["update", "download"])
def test_a_failing_apt_leaves_nothing_and_says_why(
    debian: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setenv("FAIL", step)
    with pytest.raises(FetchFailed, match="no route to the mirror"):
        fetched(debian)
    assert list(source_folder().iterdir()) == []


def test_a_suite_without_a_newer_kernel(debian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INDEX", INDEX.format("6.12"))
    with pytest.raises(FetchFailed, match=r"no kernel source from 6\.16 on"):
        fetched(debian)


def test_a_package_without_the_archive(debian: Path) -> None:
    (debian / "usr" / "src" / "linux-source-7.2.tar.xz").unlink()
    with pytest.raises(FetchFailed, match=r"holds no linux-source-7\.2\.tar\.xz"):
        fetched(debian)


def test_without_debians_keys_nothing_is_fetched(debian: Path) -> None:
    with pytest.raises(FetchFailed, match="signatures"):
        fetched(debian, "none.gpg")


def test_the_newest_series_counts_by_number() -> None:
    index = "".join(INDEX.format(version) for version in ("6.12", "6.16", "7.2", "7.10"))
    assert fetch.newest(index) == (7, 10)


def test_the_machines_own_mirror_is_asked() -> None:
    targets = "Debian main bookworm-updates http://a/debian/\nDebian main bookworm http://b/debian/\n"
    assert fetch.mirror_of(targets) == "http://b/debian"


@pytest.mark.parametrize("targets", ["", "Ubuntu main noble http://a/ubuntu/\n"])
def test_without_a_mirror_of_debian_nothing_is_fetched(targets: str) -> None:
    with pytest.raises(FetchFailed, match="no mirror of Debian"):
        fetch.mirror_of(targets)


class TestSetupKernel:
    """scripts/setup-kernel with a `testbed` that notes what it is asked."""

    TESTBED = """#!/bin/bash
echo "$*" >> "$NOTES"
case "$*" in
  "kernel status") exit 1 ;;
  "kernel fetch") [[ -n $FETCHED ]] && echo "$FETCHED" ;;
  "kernel build") exit "$BUILD" ;;
esac
"""

    def setup(self, folder: Path, fetched: str, build: int) -> tuple[int, list[str], str]:
        (folder / "scripts").mkdir()
        shutil.copy(ROOT / "scripts" / "setup-kernel", folder / "scripts")
        (folder / ".venv" / "bin").mkdir(parents=True)
        program = folder / ".venv" / "bin" / "testbed"
        program.write_text(self.TESTBED)
        program.chmod(0o755)
        notes = folder / "notes"
        environment = {**os.environ, "NOTES": str(notes), "FETCHED": fetched, "BUILD": str(build)}
        done = subprocess.run(
            [folder / "scripts" / "setup-kernel"], env=environment, check=False,
            text=True, capture_output=True,
        )  # fmt: skip
        return done.returncode, notes.read_text().splitlines(), done.stderr

    def test_a_fetched_source_is_built(self, tmp_path: Path) -> None:
        code, asked, _ = self.setup(tmp_path, "/x/linux-source-7.2.tar.xz", 0)
        assert (code, asked) == (0, ["kernel status", "kernel fetch", "kernel build"])

    def test_without_a_fetched_source_the_installed_one_is_built(self, tmp_path: Path) -> None:
        code, asked, told = self.setup(tmp_path, "", 0)
        assert (code, asked[-1]) == (0, "kernel build")
        assert "going on with the installed kernel source" in told

    @pytest.mark.skipif(not source.candidates(Path("/usr/src")), reason="no kernel source is installed")
    def test_the_installed_source_takes_the_place_of_one_that_does_not_build(self, tmp_path: Path) -> None:
        code, asked, told = self.setup(tmp_path, "/x/linux-source-9.9.tar.xz", 1)
        assert code == 0
        assert asked[-1].startswith("kernel build --source /usr/src/linux-source-")
        assert "could not be built" in told

    def test_an_interrupted_build_stays_interrupted(self, tmp_path: Path) -> None:
        code, asked, _ = self.setup(tmp_path, "/x/linux-source-7.2.tar.xz", 130)
        assert (code, asked[-1]) == (130, "kernel build")
