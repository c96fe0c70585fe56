"""A YAML text with the position of every value.

Read with the plain rules of YAML 1.2: only true and false are booleans, so `on`, `no` and `off` stay words
and 12:30 stays a text. Bounds are checked before anything is built: bytes, nesting, and nodes counted after
alias expansion, so a file of a kilobyte cannot become a gigabyte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import yaml

from testbed.topology.file.problems import InvalidTopology, Problem, refuse, unreadable

MAX_BYTES = 8_000_000
MAX_NODES = 500_000
MAX_DEPTH = 40

Path_ = tuple[str | int, ...]
Place = tuple[int, int]

_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_BASE):  # type: ignore[misc]
    """The safe loader with YAML 1.2's idea of which plain words are no strings."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


_INT = re.compile(r"[-+]?[0-9]+$")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$")
RESOLVERS: list[tuple[str, re.Pattern[str], list[str]]] = [
    ("tag:yaml.org,2002:bool", re.compile(r"(true|false|True|False)$"), list("tfTF")),
    ("tag:yaml.org,2002:null", re.compile(r"(~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:int", _INT, list("-+0123456789")),
    ("tag:yaml.org,2002:float", _FLOAT, list("-+.0123456789")),
    ("tag:yaml.org,2002:merge", re.compile(r"<<$"), ["<"]),
]


class _Dumper(yaml.SafeDumper):
    """Quotes exactly the words that `_Loader` would not read back as texts."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}  # type: ignore[misc]


for _rule in RESOLVERS:
    _Loader.add_implicit_resolver(*_rule)
    _Dumper.add_implicit_resolver(*_rule)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)


def write_yaml(data: dict[str, Any], comment: str) -> str:
    """A topology file's text: the comment, then the sections with a blank line between them."""
    head = "".join(f"# {line}\n" if line else "#\n" for line in comment.splitlines())
    parts = []
    for key, value in data.items():
        flow = None if isinstance(value, (dict, list)) else False  # short collections on one line
        parts.append(
            yaml.dump({key: value}, Dumper=_Dumper, sort_keys=False, default_flow_style=flow, width=108)
        )
    return head + "\n".join(parts)


@dataclass
class Document:
    """The plain data of a file, and where each part of it stands."""

    file: str
    data: Any
    places: dict[Path_, Place] = field(default_factory=dict)  # of values
    key_places: dict[Path_, Place] = field(default_factory=dict)  # of mapping keys
    given: dict[Path_, str] = field(default_factory=dict)  # by the command line, as PLACE=VALUE
    borrowed: dict[Path_, Document] = field(default_factory=dict)  # parts that stand in another file

    def place(self, path: Path_, key: bool = False) -> Place:
        """Line and column of a path; of its nearest existing ancestor when it does not exist."""
        steps = self.existing(path)
        if key and steps in self.key_places:
            return self.key_places[steps]
        return self.places.get(steps, (1, 1))

    def existing(self, path: Path_) -> Path_:
        """The path without the steps that are not in the file (union tags, missing keys)."""
        at: Path_ = ()
        for step in path:
            if (*at, step) in self.places:
                at = (*at, step)
        return at

    def borrow(self, path: Path_, other: Document, source: Path_) -> None:
        """What stands at `path` was taken from `source` in another file: its mistakes have a line there."""
        for places, theirs in ((self.places, other.places), (self.key_places, other.key_places)):
            for old in [known for known in places if known[: len(path)] == path]:
                del places[old]
            for known, place in theirs.items():
                if known[: len(source)] == source:
                    places[path + known[len(source) :]] = place
        for length in range(1, len(path)):
            self.places.setdefault(path[:length], (1, 1))
        self.places.setdefault(path, other.place(source))
        named = next((source[:n] for n in range(len(source), 0, -1) if source[:n] in other.key_places), ())
        if named:  # an item of a list has the name of the list
            self.key_places[path] = other.key_places[named]
        self.borrowed[path] = other

    def problem(self, path: Path_, message: str, hint: str = "", key: bool = False) -> Problem:
        steps = self.existing(path)
        for length in range(len(steps), 0, -1):
            if steps[:length] in self.given:
                return Problem(f"--set {self.given[steps[:length]]}", 0, 0, message, hint)
            if steps[:length] in self.borrowed:
                line, column = self.place(path, key)
                return Problem(self.borrowed[steps[:length]].file, line, column, message, hint)
        line, column = self.place(path, key)
        return Problem(self.file, line, column, message, hint)


def read_document(path: str | Path) -> Document:
    """Read a topology file; raises InvalidTopology when it is unreadable, too big, or no YAML mapping."""
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise refuse(path, f"the file has {size} bytes", f"a topology file has at most {MAX_BYTES} bytes")
        raw = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    return parse_document(raw, str(path))


def parse_document(raw: bytes | str, file: str = "<text>") -> Document:
    """`read_document` for a text at hand."""
    if len(raw) > MAX_BYTES:
        raise refuse(file, f"the text has {len(raw)} bytes", f"a topology file has at most {MAX_BYTES} bytes")
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
        _check_shape(text, file)
        root = yaml.compose(text, Loader=_Loader)
    except UnicodeDecodeError as error:
        raise refuse(file, f"not UTF-8 text (byte {error.start})", "save the file as UTF-8") from None
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(file, error) from None
    except yaml.YAMLError as error:
        raise refuse(file, f"not YAML: {' '.join(str(error).split())}", "write a YAML mapping") from None
    if not isinstance(root, yaml.MappingNode):
        raise refuse(file, "the file is not a mapping", "it starts with `name:`, `network:`, `brokers:` ...")
    _check_expansion(root, file)
    builder = _Builder(Document(file, None))
    builder.document.data = builder.build(root, ())
    if builder.problems:
        raise InvalidTopology(builder.problems)
    return builder.document


def _not_yaml(file: str, error: yaml.MarkedYAMLError) -> InvalidTopology:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    what = error.problem or error.context or "cannot be read"
    hint = "check indentation, quotes and brackets near here; a tab cannot indent"
    return refuse(file, f"not YAML: {what}", hint, line, column)


def _check_shape(text: str, file: str) -> None:
    """Refuse deep nesting before the recursive parts of the YAML library see it."""
    depth = 0
    for event in yaml.parse(text, Loader=_BASE):
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
            if depth > MAX_DEPTH:
                mark: Any = event.start_mark
                hint = f"at most {MAX_DEPTH} levels"
                raise refuse(file, "nested too deep", hint, mark.line + 1, mark.column + 1)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1


def _check_expansion(root: Any, file: str) -> None:
    """Refuse more values than the limit, counted with all aliases expanded, without expanding them.

    Anchors stand before their aliases, so a walk in document order knows a node's size when it comes again.
    """
    sizes: dict[int, int] = {}

    def size(node: Any) -> int:
        if id(node) in sizes:
            return sizes[id(node)]
        sizes[id(node)] = MAX_NODES + 1  # stays, for a node that contains itself
        children: list[Any] = []
        if isinstance(node, yaml.MappingNode):
            children = [child for pair in node.value for child in pair]
        elif isinstance(node, yaml.SequenceNode):
            children = node.value
        total = 1 + sum(size(child) for child in children)
        if total > MAX_NODES:
            mark = node.start_mark
            hint = "write fewer aliases (&name, *name), or use count and for_each"
            message = f"the file expands to more than {MAX_NODES} values"
            raise refuse(file, message, hint, mark.line + 1, mark.column + 1)
        sizes[id(node)] = total
        return total

    size(root)


class _Builder:
    """Turns YAML nodes into plain data and notes positions; collects problems instead of stopping."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def build(self, node: Any, path: Path_) -> Any:
        mark = node.start_mark
        if len(path) > MAX_DEPTH:
            hint = f"at most {MAX_DEPTH} levels, aliases expanded"
            raise refuse(self.document.file, "nested too deep", hint, mark.line + 1, mark.column + 1)
        self.document.places[path] = (mark.line + 1, mark.column + 1)
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(child, (*path, i)) for i, child in enumerate(node.value)]
        return self.scalar(node)

    def mapping(self, node: Any, path: Path_) -> dict[str, Any]:
        out: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                self.merge(value_node, path, out)
            elif not isinstance(key_node, yaml.ScalarNode):
                self.complain(key_node, "a key must be a word", "no lists or mappings as keys")
            elif key_node.value in own:
                first = own[key_node.value].start_mark.line + 1
                hint = "keep one of the two; ids and keys are unique"
                self.complain(key_node, f"duplicate key {key_node.value!r}, first in line {first}", hint)
            else:
                own[key_node.value] = key_node
                mark = key_node.start_mark
                self.document.key_places[(*path, key_node.value)] = (mark.line + 1, mark.column + 1)
                out[key_node.value] = self.build(value_node, (*path, key_node.value))
        return out

    def merge(self, node: Any, path: Path_, out: dict[str, Any]) -> None:
        """`<<: *defaults`: keys of the mapping itself win, as they are built after or over it."""
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for part in parts:
            if not isinstance(part, yaml.MappingNode):
                self.complain(part, "<< needs a mapping", "write <<: *name of a mapping")
                continue
            for key, value in self.mapping(part, path).items():
                out.setdefault(key, value)

    def scalar(self, node: Any) -> Any:
        kind = node.tag.rpartition(":")[2]
        if kind == "str":
            return node.value
        if kind == "bool":
            return node.value.lower() == "true"
        if kind == "null":
            return None
        if kind in ("int", "float"):
            return self.number(node, kind)
        self.complain(node, f"the tag {node.tag!r} is not known here", "write a plain value")
        return None

    def number(self, node: Any, kind: str) -> int | float | None:
        text = node.value
        if len(text) > 40:
            self.complain(node, "a number of more than 40 digits", "write fewer digits")
            return None
        try:
            return int(text) if kind == "int" else float(text)
        except ValueError:
            self.complain(node, f"{text!r} is no number", "write it with digits")
            return None

    def complain(self, node: Any, message: str, hint: str) -> None:
        mark = node.start_mark
        self.problems.append(Problem(self.document.file, mark.line + 1, mark.column + 1, message, hint))
