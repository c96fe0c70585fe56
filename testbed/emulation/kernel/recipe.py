"""What makes one guest kernel different from another, and the key that a built one is stored under."""

from __future__ import annotations

import hashlib
from pathlib import Path

from testbed.emulation.kernel.source import Source

HERE = Path(__file__).parent
FRAGMENT = HERE / "fragment.config"
PATCHES = HERE / "patches"

# Raise it when the build itself changes (make options, stripping), so that old binaries are not taken.
REVISION = 1

# The same source and recipe give the same binary, wherever and whenever it is built.
BUILD_ENVIRONMENT = {
    "ARCH": "um",
    "KBUILD_BUILD_TIMESTAMP": "2000-01-01",
    "KBUILD_BUILD_USER": "testbed",
    "KBUILD_BUILD_HOST": "testbed",
    "LC_ALL": "C",
}

# Sources of machines and devices that a user-mode kernel never compiles: a third of the disk space saved.
# Kconfig and Makefiles stay, because the configuration reads them all.
NEVER_COMPILED = (
    "*/Documentation/*.rst",
    "*/tools/testing/*",
    "*/tools/perf/*",
    "*/drivers/gpu/*.[ch]",
    "*/drivers/media/*.[ch]",
    "*/drivers/net/wireless/*.[ch]",
    "*/drivers/net/ethernet/*.[ch]",
    "*/drivers/scsi/*.[ch]",
    "*/drivers/staging/*.[ch]",
    "*/drivers/infiniband/*.[ch]",
    "*/sound/*.[ch]",
    "*/arch/[!ux]*/*.[chS]",  # all but um and x86
    "*/arch/*/boot/dts/*",
)


def patches(source: Source) -> list[Path]:
    """The patches for this source, in order. `*.patch` applies to all, `<major.minor>/*.patch` to one."""
    series = ".".join(str(part) for part in source.version[:2])
    return [*sorted(PATCHES.glob("*.patch")), *sorted((PATCHES / series).glob("*.patch"))]


def recipe_key(fragment: Path = FRAGMENT) -> str:
    """Identifies configuration, patches and make options, whatever source they are applied to."""
    digest = hashlib.sha256(f"revision {REVISION} {sorted(BUILD_ENVIRONMENT.items())}".encode())
    digest.update(fragment.read_bytes())
    for patch in sorted(PATCHES.rglob("*.patch")):
        digest.update(f"\0{patch.relative_to(PATCHES)}\0".encode() + patch.read_bytes())
    return digest.hexdigest()[:16]


def build_key(source: Source) -> str:
    """Identifies one built kernel: source version and recipe."""
    digest = hashlib.sha256(f"{source.identity}\0{recipe_key()}".encode()).hexdigest()
    return f"{source.version_text}-{digest[:12]}"
