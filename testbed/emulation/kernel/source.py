"""Find the distribution's kernel source package (Debian and Ubuntu ship it as /usr/src/linux-source-*).

A newer one may lie in the user's cache (see `fetch`).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from testbed.emulation.kernel.folders import source_folder
from testbed.errors import TestbedError

SOURCE_FOLDER = Path("/usr/src")
SOURCE_VARIABLE = "TESTBED_KERNEL_SOURCE"
ARCHIVE = re.compile(r"linux-source-(\d+(?:\.\d+)*)\.tar\.(xz|bz2|gz|zst)$")
INSTALL_HINT = (
    "Debian: apt install linux-source flex bison bc libelf-dev build-essential; "
    "Ubuntu: the same (the package is called linux-source there too); "
    f"or name an archive with {SOURCE_VARIABLE}=/path/linux-source-6.1.tar.xz"
)


class SourceMissing(TestbedError):
    """There is no kernel source to build from."""


@dataclass(frozen=True)
class Source:
    """One kernel source archive."""

    archive: Path
    version: tuple[int, ...]

    @property
    def version_text(self) -> str:
        return ".".join(str(part) for part in self.version)

    @property
    def identity(self) -> str:
        """Changes when the package is upgraded: an archive keeps the date at which it was packaged."""
        stat = self.archive.stat()
        return f"{self.archive.name} {stat.st_size} {int(stat.st_mtime)}"


def read(archive: Path) -> Source:
    """The source that an archive holds, by its name."""
    match = ARCHIVE.search(archive.name)
    if match is None:
        raise SourceMissing(
            "this is no kernel source archive (expected linux-source-VERSION.tar.xz)",
            file=archive,
            hint=INSTALL_HINT,
        )
    if not archive.is_file():
        raise SourceMissing("there is no such kernel source archive", file=archive, hint=INSTALL_HINT)
    return Source(archive, version_of(match[1]))


def version_of(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def candidates(folder: Path = SOURCE_FOLDER) -> list[Source]:
    """Every source archive of this machine and of the user's cache, newest version first.

    Ubuntu puts the archive one folder down (/usr/src/linux-source-6.8.0/linux-source-6.8.0.tar.bz2).
    """
    archives = [*folder.glob("linux-source-*.tar.*"), *folder.glob("linux-source-*/linux-source-*.tar.*")]
    archives += source_folder().glob("linux-source-*.tar.*")
    found = [read(path) for path in archives if ARCHIVE.search(path.name) and path.is_file()]
    return sorted(found, key=lambda source: (source.version, str(source.archive)), reverse=True)


def choose(explicit: Path | None = None, folder: Path = SOURCE_FOLDER) -> Source:
    """The archive to build from: the one given, the one of the environment, or the newest installed."""
    named = explicit or (Path(os.environ[SOURCE_VARIABLE]) if os.environ.get(SOURCE_VARIABLE) else None)
    if named is not None:
        return read(named)
    found = candidates(folder)
    if not found:
        raise SourceMissing(f"no kernel source package is installed under {folder}", hint=INSTALL_HINT)
    return found[0]
