"""`testbed logs`: the logs of a run, the errors in them, and the whole run packed."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from protos.records import Manifest
from testbed.cli.logs import command
from testbed.errors import InputError
from testbed.run.folder import RunFolder
from testbed.topology.load import load_plan_text
from testbed.topology.plan import dump

TEXT = """\
name: small
network: {generator: chain, nodes: 2}
brokers: {B: {count: 2}}
clients: {c: {broker: B1, subscribe: ["[class,eq,'X']"]}}
"""


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "results" / "small" / "20260101T000000-abcd")
    folder.create()
    folder.plan.write_bytes(dump(load_plan_text(TEXT)))
    warnings = ("tool ended with exit code 1",)
    manifest = Manifest(
        run=folder.path.name, name="small", status="failed", reason="B2 died", warnings=warnings
    )
    folder.write_manifest(manifest)
    (folder.logs / "B1.log").write_text("all is well, no error here\n")
    (folder.logs / "B2.log").write_text("fine\nTraceback (most recent call last):\n  line\nValueError: 5\n")
    (folder.logs / "clients-hr1.log").write_bytes(b"caf\xe9\nERROR lost the broker\n")
    (folder.logs / "ovs-vswitchd.log").write_text("ERROR of a daemon\n")
    return folder


def call(run: RunFolder, *arguments: str) -> Result:
    results = str(run.path.parent.parent)
    return CliRunner().invoke(command, [run.path.name, *arguments, "--results", results])


def test_the_list_names_every_log(run: RunFolder) -> None:
    shown = call(run).output
    assert [line.split()[0] for line in shown.splitlines()[1:]] == ["B1", "B2", "clients-hr1", "ovs-vswitchd"]


def test_errors_are_told_with_their_place_and_nothing_else_is(run: RunFolder) -> None:
    assert call(run, "--errors").output.splitlines() == [
        "failed: B2 died",
        "warning: tool ended with exit code 1",
        "logs/B2.log:2: Traceback (most recent call last):",
        "logs/B2.log:4: ValueError: 5",
        "logs/clients-hr1.log:2: ERROR lost the broker",
    ]


def test_one_process_by_its_name_and_a_client_by_its_driver(run: RunFolder) -> None:
    assert call(run, "B1").output == "all is well, no error here\n"
    assert "lost the broker" in call(run, "c").output


def test_an_unknown_process_lists_the_known_ones(run: RunFolder) -> None:
    failed = call(run, "B7").exception
    assert isinstance(failed, InputError)
    assert "B1, B2" in (failed.hint or "")


@pytest.mark.parametrize("name", ["run.tar.gz", "run.tar.xz", "run.tar"])
def test_the_whole_run_is_packed(run: RunFolder, tmp_path: Path, name: str) -> None:
    assert call(run, "--out", str(tmp_path / name)).exit_code == 0
    with tarfile.open(tmp_path / name) as archive:
        names = archive.getnames()
    for path in run.path.rglob("*"):
        assert f"small-{run.path.name}/{path.relative_to(run.path)}" in names
    assert not list(tmp_path.glob("*.part"))


def test_nothing_is_overwritten_and_a_run_is_not_packed_into_itself(run: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "there.tar").touch()
    for out in (tmp_path / "there.tar", run.path / "in.tar", tmp_path / "run.zip"):
        assert isinstance(call(run, "--out", str(out)).exception, InputError)
