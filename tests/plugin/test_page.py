"""docs/add-a-protocol.md: what it quotes is what the package says, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from testbed.cli.app import verb_help
from tests.plugin.gossip_site import EXAMPLE

PAGE = "docs/add-a-protocol.md"
QUOTED = re.compile(r"^```\w+\n(?:#|//) (\S+\.\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
GENERATED = ("_pb2.py", "_messages.py", "__init__.py")


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / PAGE).read_text("utf-8")


def test_its_blocks_are_quoted_from_the_package(page: str) -> None:
    quoted = QUOTED.findall(page)
    for name, text in quoted:
        assert text in (EXAMPLE / name).read_text("utf-8"), name
    files = {str(path.relative_to(EXAMPLE)) for path in EXAMPLE.rglob("*") if path.is_file()}
    written = {name for name in files if not name.endswith((*GENERATED, ".pyc"))}
    assert {name for name, _ in quoted} == written


def test_what_is_short_is_quoted_whole(page: str) -> None:
    """The reader can copy it; of the machine the page quotes what it explains."""
    texts: dict[str, str] = {}
    for name, text in QUOTED.findall(page):
        texts[name] = texts.get(name, "") + text
    for name, text in texts.items():
        if name != "gossip/broker.py":
            assert text == (EXAMPLE / name).read_text("utf-8"), name
    assert len(texts["gossip/broker.py"]) > 0.6 * len((EXAMPLE / "gossip" / "broker.py").read_text())


def test_files_and_verbs_that_it_names_exist(page: str, repository: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", page)
    assert [link for link in links if not (repository / "docs" / link).exists()] == []
    named = re.findall(r"`((?:tests|protos|broker_grpc)/[\w/]+\.\w+)`", page)
    assert named
    assert [path for path in named if not (repository / path).exists()] == []
    verbs = set(re.findall(r"(?:^ {4}|`)testbed ([a-z]+)", page, re.MULTILINE))
    assert verbs
    assert verbs <= set(verb_help())
