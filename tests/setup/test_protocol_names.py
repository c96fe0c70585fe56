"""A protocol is named in its own folder and nowhere else: whoever else needs it asks the registry."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_grpc.registry import Registry, own_plugs

NAMES = Registry(own_plugs()).names()
# A text that is a name, or gives one to `name`: {name: pop}, name="pop". Prose about POP is neither.
NAMED = re.compile(rf"(.*\bname['\"]?\s*[:=]\s*['\"]?)?({'|'.join(map(re.escape, NAMES))})(\b.*)?", re.DOTALL)


def modules(repository: Path) -> Iterator[Path]:
    """Of brokers and testbed, outside the folders of protocols."""
    for package in ("broker_grpc", "testbed"):
        for path in sorted((repository / package).rglob("*.py")):
            if not path.is_relative_to(repository / "broker_grpc" / "protocols"):
                yield path


def texts(tree: ast.Module) -> Iterator[ast.Constant]:
    """All string literals but docstrings, which may give examples."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    heads = [node.body[0] for node in ast.walk(tree) if isinstance(node, documented) and node.body]
    docstrings = {id(head.value) for head in heads if isinstance(head, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node


def names_a_protocol(text: str) -> bool:
    found = NAMED.fullmatch(text)
    if "broker_grpc.protocols." in text:  # the path of a module
        return True
    return found is not None and (found[1] is not None or not found[3])


def test_no_protocol_is_named_outside_its_folder(repository: Path) -> None:
    assert [
        f"{path.relative_to(repository)}:{text.lineno}: {text.value!r}"
        for path in modules(repository)
        for text in texts(ast.parse(path.read_text("utf-8")))
        if names_a_protocol(text.value)
    ] == []


# ---------------------------------------------------------------- on what a protocol builds


def imported(tree: ast.Module) -> Iterator[str]:
    """Modules, by their full names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def builds_on(init: ast.Module) -> set[str]:
    """What the package of a protocol says: `BUILDS_ON = ("contentbased",)`; nothing where it says nothing."""
    for node in init.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "BUILDS_ON":
            return set(ast.literal_eval(node.value))
    return set()


def rivals(folder: Path) -> list[str]:
    """Imports of protocols on which this one does not say that it builds."""
    allowed = {folder.name} | builds_on(ast.parse((folder / "__init__.py").read_text("utf-8")))
    return [
        f"{path.name}: {module}"
        for path in sorted(folder.rglob("*.py"))
        for module in imported(ast.parse(path.read_text("utf-8")))
        if module.startswith("broker_grpc.protocols.") and module.split(".")[2] not in allowed
    ]


# Of no protocol: every broker and client speaks these. And the client's side of migration.
SPOKEN_BY_ALL = {"core", "content", "client"}
ALSO = {"broker_grpc/client": {"relocation"}}


def test_no_message_of_a_protocol_is_named_outside_its_folder(repository: Path) -> None:
    found = [
        (path.relative_to(repository), module.split(".")[1].removesuffix("_messages"))
        for path in modules(repository)
        for module in imported(ast.parse(path.read_text("utf-8")))
        if re.match(r"protos\.\w+_messages\b", module)
    ]
    assert {protocol for _, protocol in found} >= SPOKEN_BY_ALL
    assert [
        f"{path}: {protocol}"
        for path, protocol in found
        if protocol not in SPOKEN_BY_ALL | ALSO.get(str(path.parent), set())
    ] == []


def test_a_protocol_knows_those_it_builds_on_and_never_its_rivals(repository: Path) -> None:
    folders = [init.parent for init in (repository / "broker_grpc" / "protocols").glob("*/__init__.py")]
    assert len(folders) > 2
    assert {folder.name: rivals(folder) for folder in folders} == {folder.name: [] for folder in folders}


@pytest.mark.parametrize(
    "statement",
    [
        "import broker_grpc.protocols.ring.table",
        "from broker_grpc.protocols.ring.table import Table",
        "from broker_grpc.protocols import ring",
        "def late():\n    from broker_grpc.protocols.ring import table",
    ],
)
def test_a_rival_is_noticed(tmp_path: Path, statement: str) -> None:
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""Trees."""\n')
    (folder / "broker.py").write_text(statement + "\nimport broker_grpc.protocols.trees.settings\n")
    assert len(rivals(folder)) == 1
    (folder / "__init__.py").write_text('"""Trees."""\nBUILDS_ON = ("ring",)\n')
    assert rivals(folder) == []


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("if algorithm['name'] == 'pop': pass", 1),
        ("OWN = ('topic_connected', 'coordinator')", 2),
        ("hint = 'write algorithm: {name: grape, weight: 5}'", 1),
        ('example = f\'{{"name": "pop", "threshold": {n}}}\'', 1),
        ("module = 'broker_grpc.protocols.contentbased.broker'", 1),
        ("'''For example {name: pop}.'''", 0),
        ("title = 'the coordinator of brokers, after POP'; stack.pop()", 0),
        ("name = 'popular'; other = 'name: grapes'", 0),
    ],
)
def test_names_are_told_from_words(source: str, found: int) -> None:
    assert sum(names_a_protocol(text.value) for text in texts(ast.parse(source))) == found
