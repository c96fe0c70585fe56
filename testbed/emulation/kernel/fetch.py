"""Get a newer kernel source package than this release of Debian has, without root.

Kernels from 6.16 on run a guest's processes without ptrace, twice as fast. Debian publishes them among the
next release's backports. The package holds one archive and depends on nothing, so apt downloads it with lists
and folders of its own (the machine's sources stay as they are), from the machine's own mirror, and checks
Debian's signature. Whatever goes wrong here costs speed only: the installed source builds a kernel too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from testbed.emulation.kernel import source
from testbed.emulation.kernel.folders import source_folder
from testbed.emulation.kernel.source import Source
from testbed.errors import TestbedError

SUITE = "trixie-backports"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
FAST_FROM = (6, 16)
NEEDED_BYTES = 600 * 1024**2
PATIENCE_S = 900
PACKAGE = re.compile(r"^Package: linux-source-(\d+)\.(\d+)$", re.MULTILINE)


class FetchFailed(TestbedError):
    """No newer kernel source could be had."""


def fetch(keyring: Path = KEYRING, installed: Path = source.SOURCE_FOLDER) -> Source:
    """The newest kernel source of the backports, in the user's cache; returns at once when one is there."""
    existing = source.candidates(installed)
    if existing and existing[0].version >= FAST_FROM:
        return existing[0]
    _check(keyring)
    folder = source_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fetching-", dir=folder) as scratch:
        return _fetch_into(folder, Apt(Path(scratch), keyring))


def _check(keyring: Path) -> None:
    missing = [tool for tool in ("apt-get", "dpkg-deb", "tar") if shutil.which(tool) is None]
    if missing:
        raise FetchFailed(f"this needs {', '.join(missing)}, as Debian has them")
    if not keyring.exists():
        raise FetchFailed("Debian's signatures cannot be checked", hint="apt install debian-archive-keyring")


def _fetch_into(folder: Path, apt: Apt) -> Source:
    free = shutil.disk_usage(folder).free
    if free < NEEDED_BYTES:
        raise FetchFailed(f"{NEEDED_BYTES / 1e6:.0f} MB of free space are needed", file=folder)
    version = newest(apt.packages())
    package = apt.download(f"linux-source-{version[0]}.{version[1]}")
    name = f"linux-source-{version[0]}.{version[1]}.tar.xz"
    apt.run(["dpkg-deb", "--extract", str(package), str(apt.scratch / "package")])
    whole = apt.scratch / "package" / "usr" / "src" / name
    if not whole.is_file():
        raise FetchFailed(f"{package.name} holds no {name}")
    os.replace(whole, folder / name)
    return source.read(folder / name)


def newest(packages: str) -> tuple[int, int]:
    """The newest kernel series in a package index that is new enough to be worth the download."""
    found = [(int(major), int(minor)) for major, minor in PACKAGE.findall(packages)]
    fast = [version for version in found if version >= FAST_FROM]
    if not fast:
        raise FetchFailed(f"{SUITE} has no kernel source from {FAST_FROM[0]}.{FAST_FROM[1]} on")
    return max(fast)


class Apt:
    """apt with every file of its own in one folder; of the machine's settings only the proxy counts."""

    def __init__(self, scratch: Path, keyring: Path) -> None:
        self.scratch = scratch
        for name in ("state/lists/partial", "cache/archives/partial"):
            (scratch / name).mkdir(parents=True)
        (scratch / "status").touch()
        (scratch / "debian.sources").write_text(
            f"Types: deb\nURIs: {mirror()}\nSuites: {SUITE}\nComponents: main\nSigned-By: {keyring}\n"
        )

    def packages(self) -> str:
        """The package index."""
        self.run([*self._apt(), "update"])
        lists = sorted((self.scratch / "state" / "lists").glob("*_Packages"))
        if not lists:
            raise FetchFailed(f"{SUITE} could not be read from {mirror()}")
        return "".join(path.read_text(encoding="utf-8", errors="replace") for path in lists)

    def download(self, package: str) -> Path:
        self.run([*self._apt(), "download", package])
        return next(self.scratch.glob(f"{package}_*.deb"))

    def _apt(self) -> list[str]:
        options = {
            "Dir::Etc::sourcelist": self.scratch / "debian.sources",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State": self.scratch / "state",
            "Dir::State::status": self.scratch / "status",
            "Dir::Cache": self.scratch / "cache",
            "Acquire::Languages": "none",
            "Acquire::GzipIndexes": "false",  # the index is read here
            "APT::Architecture": "amd64",
            "APT::Sandbox::User": "",  # the folder belongs to who runs this
        }
        return [
            "apt-get",
            "-qq",
            *(part for name, value in options.items() for part in ("-o", f"{name}={value}")),
        ]

    def run(self, argv: list[str]) -> None:
        try:
            done = subprocess.run(
                argv, cwd=self.scratch, text=True, errors="replace", timeout=PATIENCE_S, check=False,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise FetchFailed(f"{argv[0]} did not end within {PATIENCE_S} s") from None
        if done.returncode != 0:
            last = done.stdout.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            raise FetchFailed(f"{argv[0]} failed: {last[0]}", hint="check the network, then try again")


def mirror() -> str:
    """Where this machine gets Debian from."""
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(ORIGIN) $(COMPONENT) $(RELEASE) $(REPO_URI)"],
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    return mirror_of(listed.stdout)


def mirror_of(targets: str) -> str:
    for line in targets.splitlines():
        match line.split():
            case ["Debian", "main", release, uri] if "-" not in release:
                return uri.rstrip("/")
    raise FetchFailed("the package sources of this machine name no mirror of Debian")
