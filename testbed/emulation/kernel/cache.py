"""Built kernels, everybody's or in one's own cache: a folder per build key with binary, config, record."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from testbed.emulation.kernel.folders import SHARED_VARIABLE, shared_folder
from testbed.emulation.kernel.folders import cache_folder as cache_folder
from testbed.emulation.kernel.recipe import recipe_key
from testbed.errors import TestbedError
from testbed.run.asker import home_of_asker

KERNEL_VARIABLE = "TESTBED_KERNEL"
BUILD_HINT = "'testbed kernel build' makes one (a few minutes, once)"
BUILDING = ".building"
AS_ROOT = "sudo env XDG_CACHE_HOME={} $(command -v testbed) kernel install --shared"  # of this cache


class KernelMissing(TestbedError):
    """There is no usable guest kernel."""


class KernelRecord(msgspec.Struct, frozen=True):
    """What is written beside a built kernel."""

    key: str
    recipe: str
    source: str
    version: str
    sha256: str
    size: int
    build_seconds: float


@dataclass(frozen=True)
class Kernel:
    """A guest kernel that can be booted. `record` is None for one named by hand."""

    binary: Path
    record: KernelRecord | None

    @property
    def virtual_time(self) -> bool:
        """Whether it was built with time travel: ours are, another one must carry the option's text."""
        return self.record is not None or b"time-travel=inf-cpu" in self.binary.read_bytes()

    @property
    def name(self) -> str:
        """For the manifest of a run."""
        return f"uml {self.record.version} {self.record.key}" if self.record else str(self.binary)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def built(folder: Path | None = None) -> list[Kernel]:
    """Every kernel in the cache, newest version first. A folder without a readable record is no kernel."""
    found = []
    for record_file in (folder or cache_folder()).glob("*/kernel.json"):
        try:
            record = msgspec.json.decode(record_file.read_bytes(), type=KernelRecord)
        except (OSError, msgspec.DecodeError):
            continue
        binary = record_file.parent / "linux"
        if binary.is_file() and not record_file.parent.name.endswith(BUILDING):
            found.append(Kernel(binary, record))
    return sorted(found, key=_newest_first, reverse=True)


def _newest_first(kernel: Kernel) -> tuple[list[int], float]:
    version = kernel.record.version if kernel.record else "0"
    return [int(part) for part in version.split(".")], kernel.binary.stat().st_mtime


def is_current(kernel: Kernel) -> bool:
    """Whether it was built by today's recipe."""
    return kernel.record is not None and kernel.record.recipe == recipe_key()


def is_intact(kernel: Kernel) -> bool:
    """Whether the binary is the one that was built."""
    return kernel.record is None or sha256(kernel.binary) == kernel.record.sha256


def find() -> Kernel | None:
    """The kernel that a guest boots: $TESTBED_KERNEL, or the newest one built by today's recipe, a shared one
    before one's own.

    Reads no more than the records; `is_intact` checks the checksum.
    """
    named = os.environ.get(KERNEL_VARIABLE)
    if named:
        return _named(Path(named))
    return next(current(), None)


def current() -> Iterator[Kernel]:
    """Kernels of today's recipe, those first that a guest would rather boot."""
    for kernel in [*shared(), *built(), *of_asker()]:
        if is_current(kernel):
            yield kernel


def of_asker() -> list[Kernel]:
    """Under sudo: those of the user who asked, whose word it is to run them."""
    home = home_of_asker()
    return built(home / ".cache" / "pubsub-testbed" / "kernel") if home else []


def shared() -> list[Kernel]:
    """Kernels for all users of this machine: only such as nobody but root or this user can change."""
    return [kernel for kernel in built(shared_folder()) if _guarded(kernel.binary)]


def _guarded(binary: Path) -> bool:
    """A program that others may write to is theirs: it is not run in this user's name."""
    owners = (0, os.getuid())
    for path in (binary, binary.parent, binary.parent.parent):
        status = path.stat()
        if status.st_uid not in owners or status.st_mode & 0o022:
            return False
    return True


def _named(binary: Path) -> Kernel:
    if not (binary.is_file() and os.access(binary, os.X_OK)):
        raise KernelMissing(f"{KERNEL_VARIABLE} names no executable file", file=binary, hint=BUILD_HINT)
    return Kernel(binary, None)


def require() -> Kernel:
    """The kernel that a guest boots, its checksum verified; a `KernelMissing` says how to get one."""
    if os.environ.get(KERNEL_VARIABLE):
        return _named(Path(os.environ[KERNEL_VARIABLE]))
    kernels = list(current())
    if not kernels:
        old = built()
        why = "the guest kernel in the cache is of an older recipe" if old else "no guest kernel is built"
        raise KernelMissing(why, hint=BUILD_HINT)
    for kernel in kernels:
        if is_intact(kernel):
            return kernel
    raise KernelMissing(
        "the guest kernel is damaged (its checksum is not the recorded one)",
        file=kernels[0].binary,
        hint="'testbed kernel clean' and 'testbed kernel build' make a new one",
    )


def install_shared() -> Kernel:
    """The kernel that this user's guests boot, for all users of the machine. Raises TestbedError."""
    kernel, folder = require(), shared_folder()
    if kernel.record is None:
        raise TestbedError(f"a kernel named by {KERNEL_VARIABLE} is not installed: it has no checksum")
    final = folder / kernel.record.key
    if kernel.binary.parent == final:
        return kernel
    try:
        _copy_whole(kernel.binary.parent, final)
    except OSError as error:
        raise TestbedError(
            f"the shared kernel cannot be written: {error.strerror}",
            file=folder,
            hint=f"{AS_ROOT.format(cache_folder().parents[1])} (or {SHARED_VARIABLE}=FOLDER)",
        ) from error
    return Kernel(final / "linux", kernel.record)


def _copy_whole(source: Path, final: Path) -> None:
    """Beside its place first, so that a kernel that is there is a whole one; readable for everybody."""
    final.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    scratch = final.with_name(f"{final.name}{BUILDING}")
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(source, scratch)
    for path in (scratch, *scratch.iterdir()):
        path.chmod(0o755 if path.is_dir() or path.name == "linux" else 0o644)
    shutil.rmtree(final, ignore_errors=True)
    scratch.rename(final)


def remove_all() -> int:
    """Empty the cache, interrupted builds included. Returns the bytes that were freed."""
    folder = cache_folder()
    freed = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
    shutil.rmtree(folder, ignore_errors=True)
    return freed
