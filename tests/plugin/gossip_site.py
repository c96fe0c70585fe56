"""The example package, built and installed into a folder of its own, and verbs that find it there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

from tests.emulation.deployments import ROOT, run

EXAMPLE = ROOT / "docs" / "examples" / "gossip"
RING = EXAMPLE / "ring.yaml"


def install(source: Path, scratch: Path) -> Path:
    """What an installer does, without a network: the package's own backend makes a wheel."""
    # The backend leaves its litter beside the sources.
    copy = Path(shutil.copytree(source, scratch / "source", ignore=shutil.ignore_patterns("__pycache__")))
    backend = tomllib.loads((copy / "pyproject.toml").read_text())["build-system"]["build-backend"]
    build = f"import sys, {backend} as backend; backend.build_wheel(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", build, str(scratch)], cwd=copy, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel] = scratch.glob("*.whl")
    site = scratch / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def renamed(source: Path, folder: Path, name: str, edits: dict[str, str]) -> Path:
    """Another package that differs from this one by its name and some edits."""
    old = source.name
    edits = {old: name, old.upper(): name.upper(), old.title(): name.title()} | edits
    for path in sorted(source.rglob("*")):
        if path.is_file() and not path.name.endswith((".pyc", "_pb2.py", "_messages.py")):
            text = path.read_text()
            for before, after in edits.items():
                text = text.replace(before, after)
            target = folder / str(path.relative_to(source)).replace(old, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    proto = folder / name / f"{name}.proto"
    subprocess.run([sys.executable, "-m", "protos.generate", proto], check=True, capture_output=True)
    return folder


def verb(sites: list[Path], *arguments: object) -> subprocess.CompletedProcess[str]:
    before = os.environ.get("PYTHONPATH")
    paths = [*map(str, sites), *([before] if before else [])]
    return run(*arguments, PYTHONPATH=os.pathsep.join(paths), COLUMNS="200")
