"""Build the guest kernel: extract, patch, configure, compile, strip, move into the cache.

A build happens in `<key>.building` beside its final place and ends with one rename, so a kernel in the cache
is always a whole one. Interrupted, it leaves that folder, and the next build goes on from there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from testbed.emulation.kernel import cache, recipe
from testbed.emulation.kernel.cache import Kernel, KernelRecord
from testbed.emulation.kernel.folders import source_folder
from testbed.emulation.kernel.source import Source, choose, version_of
from testbed.errors import TestbedError

DISK_NEEDED = 2 * 1024**3
TOOLS = ("tar", "make", "gcc", "ld", "flex", "bison", "bc", "nice", "patch", "strip")
TOOLS_HINT = "Debian, Ubuntu: apt install build-essential flex bison bc libelf-dev xz-utils patch"
COMPILED = re.compile(r"^\s+(CC|AS|HOSTCC|AR|LD)\s")
LAST_LINES = 25


@dataclass(frozen=True)
class Progress:
    """Where the build is. `percent` never goes back; it is an estimate until it is 100."""

    step: str
    percent: float


Report = Callable[[Progress], None]


class BuildFailed(TestbedError):
    """The kernel could not be built."""


def build(source: Source | None, report: Report, jobs: int | None = None) -> Kernel:
    """Build and store the kernel of this source; returns at once when it is already there.

    `source` None: the newest there is, unless a kernel of today's recipe and at least its version is built.
    """
    source, existing = _wanted(source)
    if existing is not None:
        report(Progress("already built", 100))
        return existing
    _check_tools()
    folder = cache.cache_folder() / (recipe.build_key(source) + cache.BUILDING)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _only_builder(folder):
            return _stored(source) or _build_in(folder, source, report, jobs or os.cpu_count() or 1)
    except OSError as error:
        raise BuildFailed(
            f"building the kernel failed: {error.strerror}",
            file=error.filename,
            hint="set XDG_CACHE_HOME to a folder that you may write to and that has 2 GB free",
        ) from error


def _wanted(source: Source | None) -> tuple[Source, Kernel | None]:
    if source is not None:
        return source, _stored(source)
    newest = choose()
    for kernel in cache.current():
        if kernel.record and version_of(kernel.record.version) >= newest.version and cache.is_intact(kernel):
            return newest, kernel
    return newest, _stored(newest)


def _stored(source: Source) -> Kernel | None:
    key = recipe.build_key(source)
    same = (kernel for kernel in cache.built() if kernel.record and kernel.record.key == key)
    return next((kernel for kernel in same if cache.is_intact(kernel)), None)


def _build_in(folder: Path, source: Source, report: Report, jobs: int) -> Kernel:
    started = time.monotonic()
    check_disk(folder, already=_size(folder))
    tree = _extract(source, folder, report)
    _configure(tree, report)
    _compile(tree, jobs, report)
    return _install(tree, folder, source, time.monotonic() - started, report)


def _check_tools() -> None:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise BuildFailed(
            f"these programs are needed to build the kernel: {', '.join(missing)}", hint=TOOLS_HINT
        )
    if not any(Path(include, "libelf.h").exists() for include in ("/usr/include", "/usr/local/include")):
        raise BuildFailed("the header libelf.h is needed to build the kernel", hint=TOOLS_HINT)


def check_disk(folder: Path, already: int = 0, needed: int = DISK_NEEDED) -> None:
    """Fail before the disk is filled. `already` counts what an interrupted build has written."""
    free = shutil.disk_usage(folder).free
    if free + already < needed:
        raise BuildFailed(
            f"building the kernel needs {needed / 1e9:.1f} GB of free space for a while, "
            f"{free / 1e9:.1f} GB are free",
            file=folder,
            hint="free some space, or set XDG_CACHE_HOME to a folder on a larger disk",
        )


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


@contextmanager
def _only_builder(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; the kernel drops it when the builder dies, however it dies."""
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BuildFailed(
                "another process is building this kernel right now", hint="wait for it"
            ) from None
        folder.mkdir(exist_ok=True)
        yield


def _extract(source: Source, folder: Path, report: Report) -> Path:
    """Unpack and patch, unless an earlier build got so far."""
    tree, done = folder / "tree", folder / "extracted"
    if done.exists():
        return tree
    report(Progress(f"extracting {source.archive.name}", 0))
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir()
    excludes = [f"--exclude={pattern}" for pattern in recipe.NEVER_COMPILED]
    _run(["tar", "-xf", str(source.archive), "-C", str(tree), "--strip-components=1", *excludes], tree)
    for patch in recipe.patches(source):
        _run(["patch", "-p1", "--batch", "--input", str(patch)], tree)
    done.touch()
    return tree


def _configure(tree: Path, report: Report) -> None:
    report(Progress("configuring", 8))
    if (tree / ".config").exists():
        return
    _run(["make", "allnoconfig", f"KCONFIG_ALLCONFIG={recipe.FRAGMENT}"], tree)


def _compile(tree: Path, jobs: int, report: Report) -> None:
    done = sum(1 for _ in tree.rglob("*.o"))
    progress = CompileProgress(done)
    report(progress.now())
    for line in _lines(["make", f"-j{jobs}", "linux"], tree):
        if COMPILED.match(line):
            report(progress.step())


class CompileProgress:
    """Estimates how far the compilation is, from the steps that make prints.

    The number of steps is known from earlier builds only roughly (it depends on the kernel's version), so the
    estimate stops short of the end instead of passing it.
    """

    EXPECTED_STEPS = 1150
    FIRST, LAST = 10.0, 98.0

    def __init__(self, already: int = 0) -> None:
        self.steps = already

    def step(self) -> Progress:
        self.steps += 1
        return self.now()

    def now(self) -> Progress:
        share = min(1.0, self.steps / self.EXPECTED_STEPS)
        return Progress("compiling", self.FIRST + share * (self.LAST - self.FIRST))


def _install(tree: Path, folder: Path, source: Source, seconds: float, report: Report) -> Kernel:
    """Keep the binary and its configuration, drop the tree, and give the folder its final name."""
    report(Progress("installing", 99))
    _run(["strip", "-o", str(folder / "linux"), str(tree / "linux")], tree)
    shutil.copyfile(tree / ".config", folder / "config")
    record = _record(folder / "linux", source, seconds)
    (folder / "kernel.json").write_bytes(msgspec.json.format(msgspec.json.encode(record)) + b"\n")
    shutil.rmtree(tree)
    (folder / "extracted").unlink()
    final = folder.with_name(record.key)
    shutil.rmtree(final, ignore_errors=True)
    folder.rename(final)
    (folder.parent / f"{folder.name}.lock").unlink(missing_ok=True)
    _tidy(source)
    report(Progress("done", 100))
    return Kernel(final / "linux", record)


def _tidy(source: Source) -> None:
    """What builds leave: a fetched source, of no more use, and trees of builds that were given up.

    A tree whose lock is held is somebody's build; every other one is of an older recipe or source.
    """
    if source.archive.parent == source_folder():
        source.archive.unlink(missing_ok=True)
    for tree in cache.cache_folder().glob(f"*{cache.BUILDING}"):
        with contextlib.suppress(BuildFailed, OSError), _only_builder(tree):
            shutil.rmtree(tree, ignore_errors=True)
            (tree.parent / f"{tree.name}.lock").unlink(missing_ok=True)


def _record(binary: Path, source: Source, seconds: float) -> KernelRecord:
    return KernelRecord(
        key=recipe.build_key(source),
        recipe=recipe.recipe_key(),
        source=source.archive.name,
        version=source.version_text,
        sha256=cache.sha256(binary),
        size=binary.stat().st_size,
        build_seconds=round(seconds, 1),
    )


def _run(argv: list[str], tree: Path) -> None:
    for _ in _lines(argv, tree):
        pass


def _lines(argv: list[str], tree: Path) -> Iterator[str]:
    """Run one step at low priority and yield its output; a failure carries the last lines."""
    environment = {**_clean_environment(), **recipe.BUILD_ENVIRONMENT}
    last: deque[str] = deque(maxlen=LAST_LINES)
    command = subprocess.Popen(
        ["nice", *argv], cwd=tree, env=environment, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        assert command.stdout is not None
        for line in command.stdout:
            last.append(line)
            yield line
    except BaseException:
        command.terminate()
        raise
    finally:
        # Not terminated here: a step that has closed its output may still be on its way out.
        command.wait()
    if command.returncode != 0:
        raise BuildFailed(
            f"'{' '.join(argv[:3])}' failed with exit code {command.returncode}:\n{''.join(last).rstrip()}",
            file=tree,
            hint="run it again (it goes on where it stopped); 'testbed kernel clean' starts from nothing",
        )


def _clean_environment() -> dict[str, str]:
    """The user's environment without what would change the kernel that comes out."""
    foreign = ("KCFLAGS", "KBUILD_", "MAKEFLAGS", "MAKELEVEL", "CROSS_COMPILE", "ARCH", "SUBARCH", "CFLAGS")
    return {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
