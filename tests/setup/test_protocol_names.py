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
