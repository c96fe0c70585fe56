"""Removing what a killed run left behind: exactly what it recorded, nothing found by a name."""

from __future__ import annotations

from pathlib import Path

from testbed.emulation.deployment import DEPLOYMENT_FILE, Deployment
from testbed.errors import TestbedError
from testbed.run.folder import RunFolder
from testbed.run.reserve import release

RECORDS = (DEPLOYMENT_FILE, "created.json", "guest.json")


def clean_all(results: Path) -> list[str]:
    """Every run below `results` that has a record of something it made."""
    folders = sorted({path.parent for name in RECORDS for path in results.glob(f"*/*/{name}")})
    return [line for folder in folders if folder.name != "latest" for line in clean(RunFolder(folder))]


def clean(folder: RunFolder) -> list[str]:
    """What was removed, one line each. A deployment that answers is left alone."""
    if is_alive(folder):
        return [f"{folder.path}: is running; 'testbed stop' ends it"]
    from testbed.emulation.guest import deployment as guest_deployment
    from testbed.emulation.network.created import remove_created

    removed = guest_deployment.remove(folder)
    if folder.read_manifest().engine != "guest":  # a guest's namespaces and processes went with it
        removed += remove_created(folder.path)
    for name in RECORDS:
        (folder.path / name).unlink(missing_ok=True)
    release(folder.path)
    mark_aborted(folder)
    return [f"{folder.path}: removed {what}" for what in removed]


def is_alive(folder: RunFolder) -> bool:
    if not (folder.path / DEPLOYMENT_FILE).exists():
        return False
    try:
        Deployment(folder).status()
    except TestbedError:
        return False
    return True


def mark_aborted(folder: RunFolder) -> None:
    """A run that still says `running` was killed; its folder must not say otherwise for ever."""
    manifest = folder.read_manifest()
    if manifest.status == "running":
        manifest.status, manifest.reason = "aborted", "the harness was killed"
        folder.write_manifest(manifest)
