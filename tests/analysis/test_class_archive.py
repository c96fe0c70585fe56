"""The class archive: one per clone, remade when Java would pass it over, gone when its clone is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.analysis.spark import class_archive
from testbed.analysis.spark.session import archive_path, find_java


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pubsub-testbed" / "spark"


def test_each_clone_has_its_own(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Java takes an archive only for jars at the path it was made from."""
    here = archive_path(find_java())
    assert here.parent == cache
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "another"))
    assert archive_path(find_java()) != here


def test_what_java_would_pass_over_does_not_fit(cache: Path) -> None:
    java = find_java()
    archive = archive_path(java)
    assert not class_archive.fits(archive, java)
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"no archive")
    assert not class_archive.fits(archive, java)
    assert class_archive.main(["--check"]) == 1


def test_the_class_path_is_the_launchers(cache: Path) -> None:
    assert class_archive._class_path(find_java()).endswith("/jars/*")


def test_archives_of_clones_that_are_gone_are_removed(cache: Path, tmp_path: Path) -> None:
    cache.mkdir(parents=True)
    for name, home in (("kept", tmp_path), ("gone", tmp_path / "gone")):
        (cache / f"{name}.jsa").touch()
        (cache / f"{name}.origin").write_text(f"{home}\n")
    (cache / "old.jsa").touch()
    class_archive._forget_gone_clones(cache)
    assert sorted(path.name for path in cache.iterdir()) == ["kept.jsa", "kept.origin"]
