"""The text form: one command per line.

    <time_s> ADD    <id> <node> <start_script> [arguments ...]
    <time_s> REMOVE <id> <node>

Lines that start with # are comments. Everything after the script belongs to it; quotes group as in a shell.
"""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from testbed.topology.file.document import MAX_BYTES
from testbed.topology.file.problems import InvalidTopology, Problem, refuse, unreadable


@dataclass(frozen=True)
class Command:
    """One line. `time_s` 0 is phase I, in file order; everything else phase II, by time."""

    line: int
    time_s: float
    verb: str  # ADD or REMOVE
    id: str
    node: str
    script: str = ""
    arguments: list[str] = field(default_factory=list)


def read_commands(path: str | Path) -> list[Command]:
    """The commands of a file; raises InvalidTopology with every malformed line."""
    path = Path(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise refuse(path, "the file is too large", f"at most {MAX_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError as error:
        raise refuse(path, f"not UTF-8 text (byte {error.start})", "give a text file") from None
    return parse_commands(text, str(path))


def parse_commands(text: str, file: str = "<text>") -> list[Command]:
    commands, problems = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                commands.append(_command(line, number))
            except ValueError as error:
                hint = "write: TIME ADD ID NODE SCRIPT ARGUMENTS, or TIME REMOVE ID NODE"
                problems.append(Problem(file, number, 1, str(error), hint))
    if not commands and not problems:
        problems.append(Problem(file, 1, 1, "the file has no commands", "at least one ADD"))
    if problems:
        raise InvalidTopology(problems)
    return commands


def _command(line: str, number: int) -> Command:
    words = shlex.split(line)
    if len(words) < 4:
        raise ValueError(f"{len(words)} fields, but four are needed")
    time_s, verb = _time(words[0]), words[1].upper()
    if verb not in ("ADD", "REMOVE"):
        raise ValueError(f"{words[1]!r} is no command")
    if verb == "ADD" and len(words) < 5:
        raise ValueError("ADD without a start script")
    if verb == "REMOVE":
        return Command(number, time_s, verb, words[2], words[3])
    return Command(number, time_s, verb, words[2], words[3], words[4], words[5:])


def _time(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise ValueError(f"{word!r} is no time in seconds") from None
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{word} is no time in seconds, 0 or more")
    return value


def option(arguments: list[str], name: str) -> str | None:
    """The word after `-name`, or None."""
    for at, word in enumerate(arguments[:-1]):
        if word == f"-{name}":
            return arguments[at + 1]
    return None


def without(arguments: list[str], names: set[str]) -> list[str]:
    """The arguments that are none of these options and their values."""
    out, skip = [], False
    for word in arguments:
        if skip:
            skip = False
        elif word.startswith("-") and word[1:] in names:
            skip = True
        else:
            out.append(word)
    return out
