"""What the documents promise exists: files, verbs, make targets, and an example that is valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from testbed.cli.app import verb_help

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/setup.md")
ROOMS = "benchmarks|broker_grpc|docs|experiments|protos|scripts|testbed|tests|topologies"


def text(repository: Path, name: str) -> str:
    return (repository / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_linked_files_exist(repository: Path, name: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", text(repository, name))
    for link in links:
        assert ((repository / name).parent / link).exists(), link


def all_documents(repository: Path) -> list[Path]:
    return [
        path for kind in ("*.md", "docs/*.md", "experiments/*/NOTES.md") for path in repository.glob(kind)
    ]


def test_named_places_of_the_tree_exist(repository: Path) -> None:
    """`protos/*.proto` if there is one of them; `testbed/cli/<verb>.py` if any word makes it one."""
    found = []
    for document in all_documents(repository):
        for code in re.findall(r"`([^`\n]+)`", document.read_text(encoding="utf-8")):
            found += [
                (document.name, place) for place in re.findall(rf"(?:^|(?<= ))(?:{ROOMS})/[^\s:]*", code)
            ]
    assert len(found) > 50
    wrong = [(name, place) for name, place in found if not any(repository.glob(re.sub(r"<\w+>", "*", place)))]
    assert wrong == []


def test_files_that_are_named_by_the_end_of_their_path_exist(repository: Path) -> None:
    """`core/outbox.py`, or only `outbox.py`."""
    files = [path for room in ROOMS.split("|") for path in (repository / room).rglob("*.*")]
    ends = {"/".join(path.parts[-length:]) for path in files for length in range(1, 9)}
    named = {
        (document.name, file)
        for document in all_documents(repository)
        for file in re.findall(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|proto))`", document.read_text(encoding="utf-8"))
    }
    assert len(named) > 50
    assert {(name, file) for name, file in named if file not in ends} == set()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_named_verbs_exist(repository: Path, name: str) -> None:
    named = set(re.findall(r"(?:^|`)testbed ([a-z]+)", text(repository, name), re.MULTILINE))
    assert named <= set(verb_help()), named - set(verb_help())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_named_make_targets_exist(repository: Path, name: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", text(repository, "Makefile"), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text(repository, name), re.MULTILINE))
    assert named
    assert named <= targets, named - targets


def test_every_dependency_has_its_reason(repository: Path) -> None:
    import tomllib

    project = tomllib.loads(text(repository, "pyproject.toml"))
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    names = {re.split(r"[<>=\[ ]", requirement)[0] for requirement in wanted}
    table = text(repository, "docs/architecture.md").partition("## Dependencies")[2]
    assert not {name for name in names if not re.search(rf"\b{re.escape(name)}\b", table)}


def test_the_readme_fits_on_a_screen_and_a_bit(repository: Path) -> None:
    assert len(text(repository, "README.md").splitlines()) <= 70


def test_the_example_of_the_readme_is_valid(repository: Path, tmp_path: Path) -> None:
    from testbed.topology.load import load_plan_file

    example = re.search(r"```yaml\n(.*?)```", text(repository, "README.md"), re.DOTALL)
    assert example is not None
    path = tmp_path / "three-brokers.yaml"
    path.write_text(example.group(1))
    plan = load_plan_file(path)
    assert [broker.id for broker in plan.brokers] == ["B1", "B2", "B3"]
