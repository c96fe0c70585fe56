"""Every code sample of the documents: Python is run, topology files are loaded, commands are understood.

Samples that quote a file are held against it elsewhere (HELD). A sample of a kind that nobody here knows, or
of a document whose samples need something to run in that is not given here, fails.
"""

from __future__ import annotations

import asyncio
import copy
import importlib.util
import json
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from broker_grpc.core.config import BrokerProcessConfig
from testbed.cli.app import app
from testbed.nightly.choice import read_choice
from testbed.topology.load import load_plan_text
from testbed.topology.panda.commands import parse_commands
from testbed.topology.panda.importer import import_panda
from tests.ports import free_port
from tests.setup.samples import Sample, samples

ROOT = Path(__file__).parents[2]
ALL = samples(ROOT)
# Whose samples quote a package: tests/plugin/test_page.py, tests/reproduction/test_add_a_paper.py.
HELD = ("docs/add-a-protocol.md", "docs/add-a-paper.md")
UNCHECKED = {"powershell": "of Windows", "shown": "what is printed, or a drawing"}


def of_kind(*kinds: str) -> list[Any]:
    return [pytest.param(s, id=s.place) for s in ALL if s.kind in kinds and s.file not in HELD]


def test_there_is_a_test_for_every_sample() -> None:
    known = {"shell", "yaml", "python", "json", "panda", *UNCHECKED}
    assert len(ALL) > 80
    assert [s.place for s in ALL if s.kind not in known and s.file not in HELD] == []
    assert [s.place for s in ALL if s.kind == "python" and s.file not in {*HELD, *RUN}] == []
    shown = [s for s in ALL if s.kind == "shown"]
    assert [s.place for s in shown if re.search(r"^(testbed|make|python|pytest) ", s.text, re.M)] == []


# ---------------------------------------------------------------- commands

PLAIN = ("sudo", "git", "mkdir", "cp", "systemctl", "loginctl", "limactl", "cd", "apt-get")


@pytest.mark.parametrize("sample", of_kind("shell"))
def test_a_command_is_one(sample: Sample) -> None:
    """Verbs with their options, make's targets, modules and test files; the shell reads the rest."""
    text = re.sub(r"<[\w ]+>|…", "X", sample.text)
    subprocess.run(["bash", "-n"], input=text, text=True, check=True, capture_output=True)
    for line in text.splitlines():
        for words in _commands(line):
            _understood(words, sample.place)


def _commands(line: str) -> list[list[str]]:
    words = shlex.split(line, comments=True)
    if words[:1] == ["live:"]:
        return []
    found: list[list[str]] = [[]]
    for word in words:
        if word in ("&&", ";"):
            found.append([])
        else:
            found[-1].append(word)
    return [words for words in found if words]


def _understood(words: list[str], place: str) -> None:
    match words:
        case ["testbed", *arguments]:
            _verb(list(arguments))
        case ["make", *arguments]:
            target = next(w for w in arguments if not w.startswith("-") and w != "~/testbed" and "=" not in w)
            assert re.search(rf"^{target}:|^\.PHONY:.*\b{target}\b", (ROOT / "Makefile").read_text(), re.M), (
                place
            )
        case ["python", "-m", module, *_]:
            assert importlib.util.find_spec(module), f"{place}: {module}"
        case ["python", script, *_]:
            assert (ROOT / script).exists(), f"{place}: {script}"
        case ["pytest", *arguments]:
            assert all((ROOT / word).exists() for word in arguments if word.startswith("tests/")), place
        case [".", script]:
            assert script == ".venv/bin/activate"
        case [first, *_]:
            assert first in PLAIN, f"{place}: {' '.join(words)}"


def _verb(arguments: list[str]) -> None:
    """Parsed by the verb itself; files need not be there, as a reader's are not here."""
    with click.Context(app, info_name="testbed") as context:
        command: click.Command | None = app
        while isinstance(command, click.Group):
            name, command, arguments = command.resolve_command(context, arguments)
            assert command is not None, name
        command = copy.copy(command)  # verbs are shared with all other tests of this process
        command.params = [copy.copy(parameter) for parameter in command.params]
        for parameter in command.params:
            if isinstance(parameter.type, click.Path):
                parameter.type = click.STRING
        command.make_context(command.name, arguments, parent=context).close()


# ---------------------------------------------------------------- topology files and other data

SMALL = {"name": "sample", "network": {"generator": "chain", "nodes": 5}, "brokers": {"B": {"count": 5}}}
# What a part of a topology file stands in.
AROUND: dict[str, dict[str, Any]] = {
    "docs/self-organising.md": {
        "overlay": {"generator": "chain"},
        "duration": "100s",
        "defaults": {"broker": {"options": {"matching_us": 100}}},
    },
    "docs/dynatops.md": {"network": {"generator": "chain", "nodes": 49}},
    "docs/topic-connected.md": {"network": {"generator": "chain", "nodes": 9}},
}


@pytest.mark.parametrize("sample", of_kind("yaml"))
def test_a_topology_file_or_a_part_of_one_is_valid(sample: Sample, tmp_path: Path) -> None:
    if sample.file == "docs/nightly.md":
        path = tmp_path / "set.yaml"
        path.write_text(sample.text)
        assert read_choice(path).reproductions
        return
    for part in _parts(sample.text):
        if part.get("name") and "network" in part:
            assert load_plan_text(sample.text, sample.place).brokers
        else:
            file = _completed(part, sample, tmp_path)
            load_plan_text(yaml.safe_dump(file), sample.place, tmp_path)


def _parts(text: str) -> list[dict[str, Any]]:
    """A sample may show one key several times, or items of a list without their key."""
    if text.startswith("  - "):
        return [{"events": yaml.safe_load(text)}]
    lines = text.splitlines()
    if len(lines) > 1 and all(line.startswith(lines[0].partition(":")[0] + ":") for line in lines):
        return [yaml.safe_load(line) for line in lines]
    return [yaml.safe_load(text)]


def _completed(part: dict[str, Any], sample: Sample, folder: Path) -> dict[str, Any]:
    around: dict[str, Any] = {**SMALL, **AROUND.get(sample.file, {})}
    if "later.txt" in sample.text:
        rows = [[0 if a == b else 20 + a + b for b in range(5)] for a in range(5)]
        for name in ("now.txt", "later.txt"):
            (folder / name).write_text("\n".join(" ".join(map(str, row)) for row in rows) + "\n")
        around["network"] = {"generator": "rtt_matrix", "file": "now.txt"}
    return {**around, **part}


def test_the_sample_of_panda_is_imported() -> None:
    (sample,) = [s for s in ALL if s.kind == "panda"]
    imported = import_panda(parse_commands(sample.text), "old")
    assert len(load_plan_text(imported.text("old.txt")).brokers) == 3


@pytest.mark.parametrize("sample", of_kind("json"))
def test_a_configuration_of_a_process_is_one(sample: Sample) -> None:
    import msgspec

    from testbed.workload.driver import DriverConfig

    kind = DriverConfig if sample.file == "docs/workloads.md" else BrokerProcessConfig
    assert msgspec.json.decode(sample.text, type=kind)


# ---------------------------------------------------------------- Python


def the(file: str, word: str = "") -> Sample:
    return next(s for s in ALL if s.file == file and s.kind == "python" and word in s.text)


def run_certificates(folder: Path) -> None:
    exec(the("docs/clients.md", "Authority").text, {"folder": folder / "tls"})
    assert {path.name for path in (folder / "tls").glob("*.pem")} == {"ca.pem", "B1.pem", "clients-h1.pem"}


def run_client(folder: Path) -> None:
    """Against the broker of the page's own configuration."""
    port = free_port()
    config = json.loads(next(s.text for s in ALL if s.file == "docs/clients.md" and s.kind == "json"))
    config |= {"listen": f"127.0.0.1:{port}", "events": str(folder / "B1.jsonl"), "neighbours": []}
    (folder / "B1.json").write_text(json.dumps(config))
    broker = subprocess.Popen(
        [sys.executable, "-m", "broker_grpc", "--config", str(folder / "B1.json")], cwd=ROOT
    )
    text = the("docs/clients.md", "async with").text.replace("10.0.0.1:5000", f"127.0.0.1:{port}")
    body = textwrap.indent(text.replace("n.delay_us)", "n.delay_us); break"), "    ")
    seen: list[tuple[Any, ...]] = []
    names: dict[str, Any] = {"print": lambda *words: seen.append(words)}
    exec(f"async def sample():\n{body}", names)
    try:
        asyncio.run(asyncio.wait_for(names["sample"](), 300))
    finally:
        broker.terminate()
        broker.wait()
    assert [(words[0]["price"], words[1], words[2]) for words in seen] == [(18.5, "alice", 0)]


# The documents whose Python is run: here, or by the tests below and tests/analysis/test_samples.py.
RUN: dict[str, tuple[Callable[[Path], None], ...]] = {
    "docs/clients.md": (run_certificates, run_client),
    "docs/tables.md": (),
    "docs/running.md": (),
    "docs/network.md": (),
    "docs/virtual-time.md": (),
}


@pytest.mark.parametrize("run", [pytest.param(run, id=run.__name__) for runs in RUN.values() for run in runs])
def test_python_runs(run: Callable[[Path], None], tmp_path: Path) -> None:
    run(tmp_path)


@pytest.mark.spark
@pytest.mark.nightly
def test_python_of_running_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "topologies").symlink_to(ROOT / "topologies")
    monkeypatch.chdir(tmp_path)
    text = the("docs/running.md").text.replace("seeds=[1, 2, 3]", 'seeds=[1, 2], engine="simulate"')
    names: dict[str, Any] = {}
    exec(text, names)
    assert len(names["rows"]) == 4


NETWORK = """
import sys
from testbed.emulation.network.emulated import EmulatedNetwork
from testbed.run.folder import RunFolder
from testbed.topology.load import load_plan_file

path = {folder!r}
RunFolder(__import__("pathlib").Path(path)).create()
plan = load_plan_file({topology!r})
path = __import__("pathlib").Path(path)
{sample}
print("done")
"""
HOSTS = """\
name: hosts
network: {nodes: {s1: {kind: switch}, h1: {}, h2: {}}, links: [{between: [h1, s1]}, {between: [h2, s1]}]}
brokers: {B1: {node: h1}}
"""


@pytest.mark.guest
@pytest.mark.slow
def test_python_of_guests_and_networks_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one boot: the sample of the guest, and in its guest that of the network."""
    (tmp_path / "hosts.yaml").write_text(HOSTS)
    network = NETWORK.format(
        folder=str(tmp_path / "run"),
        topology=str(tmp_path / "hosts.yaml"),
        sample=the("docs/network.md").text,
    )
    (tmp_path / "network.py").write_text(network)
    text = the("docs/virtual-time.md").text.replace(
        "memory_mb=2048", f"memory_mb=2048, shared=({str(tmp_path)!r},), cwd={str(ROOT)!r}"
    )
    text = text.replace('"my-server"', '"cat"')
    more = f"    inside = guest.run([{sys.executable!r}, {str(tmp_path / 'network.py')!r}])\n"
    names: dict[str, Any] = {}
    exec(text + "\n" + more, names)
    assert names["done"].code == 0
    assert b"done" in names["inside"].out, names["inside"].err
