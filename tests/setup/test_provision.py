"""Provisioning a bare Debian 12, with git, make and python3 only. Nightly: it downloads and builds."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: makes a chroot"),
    pytest.mark.skipif(shutil.which("debootstrap") is None, reason="debootstrap is not installed"),
]
MIRROR = os.environ.get("TESTBED_DEBIAN_MIRROR", "")  # empty: debootstrap's own default
USER = "newcomer"
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
MOUNTS = (
    ("proc", ("-t", "proc")),
    ("/dev", ("--bind",)),
    ("/dev/pts", ("--bind",)),
    ("/dev/shm", ("--bind",)),
)


class Chroot:
    """A bare Debian in a folder, with a clone of this repository and a plain user who owns it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def root(self, *argv: str) -> subprocess.CompletedProcess[str]:
        command = ["chroot", str(self.folder), *argv]
        return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)

    def user(self, script: str) -> subprocess.CompletedProcess[str]:
        return self.root("su", "-", USER, "-c", script)

    def interrupted(self, script: str, at: str) -> str:
        """Run as the user until a line with `at` comes, then Ctrl-C; what was printed so far."""
        # `-c` would open a session of its own, out of reach of our Ctrl-C.
        command = ["chroot", str(self.folder), "su", "-", USER, "--session-command", script]
        started = subprocess.Popen(
            command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip
        assert started.stdout is not None
        printed = ""
        for line in started.stdout:
            printed += line
            if at in line:
                os.killpg(started.pid, signal.SIGINT)
                at = "\0"  # once
        assert started.wait() != 0, f"it ended before {at!r}: {printed[-2000:]}"
        return printed


def run(*argv: str | Path) -> None:
    subprocess.run(argv, check=True)


@pytest.fixture(scope="module")
def chroot(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Iterator[Chroot]:
    folder = tmp_path_factory.mktemp("debian")
    folder.chmod(0o755)  # it becomes `/`, which every user must be able to enter
    with ExitStack() as undo:
        run(
            "debootstrap",
            "--variant=minbase",
            "--include=git,make,python3,ca-certificates",
            "bookworm",
            folder,
            *([MIRROR] if MIRROR else []),
        )
        for source, options in MOUNTS:
            target = folder / source.strip("/")
            run("mount", *options, source, target)
            undo.callback(run, "umount", target)
        prepare(folder, repository)
        machine = Chroot(folder)
        assert machine.root("update-ca-certificates").returncode == 0
        assert machine.root("useradd", "-m", "-s", "/bin/bash", USER).returncode == 0
        assert machine.root("chown", "-R", USER, "/srv/testbed").returncode == 0
        yield machine


def prepare(folder: Path, repository: Path) -> None:
    """Name service, this machine's own certificates, no services started, and the project."""
    shutil.copy("/etc/resolv.conf", folder / "etc")
    own_certificates = Path("/usr/local/share/ca-certificates")
    if own_certificates.is_dir():
        shutil.copytree(own_certificates, folder / "usr/local/share/ca-certificates", dirs_exist_ok=True)
    policy = folder / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    run("git", "clone", "-q", repository, folder / "srv/testbed")


def compiled(printed: str) -> list[int]:
    """The percentages of the kernel build, as they were told."""
    return [int(percent) for percent in re.findall(r"compiling (\d+) %", printed)]


def test_from_a_bare_machine_to_a_working_testbed(chroot: Chroot) -> None:
    """Refused with one line, packages by root, interrupted, continued, and a first experiment."""
    refused = chroot.user("make -C /srv/testbed setup")
    assert refused.returncode != 0
    assert refused.stderr.count("sudo apt-get install") == 1
    assert "openjdk-17-jre-headless" in refused.stderr

    packages = chroot.root("make", "-C", "/srv/testbed", "system-packages")
    assert packages.returncode == 0, packages.stdout[-3000:] + packages.stderr[-3000:]
    before = chroot.interrupted("make -C /srv/testbed setup", at="compiling 1")

    done = chroot.root("bash", "/srv/testbed/scripts/provision", "/srv/testbed", USER)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert compiled(done.stdout + done.stderr)[0] >= compiled(before)[-1]

    again = chroot.user("make -C /srv/testbed setup")
    assert again.returncode == 0, again.stderr
    assert "compiling" not in again.stderr + again.stdout

    report = chroot.user("/srv/testbed/.venv/bin/testbed doctor --json")
    assert '"engine": "guest"' in report.stdout, report.stdout + report.stderr

    first = chroot.user("make -C /srv/testbed quickstart")
    assert first.returncode == 0, first.stdout[-3000:] + first.stderr[-3000:]
    for title in ("Delay per delivery", "Hops", "Messages and bytes", "fidelity pass", "report.html"):
        assert title in first.stdout
