"""Words of commands that name files: a path is seen from the topology file, not from where a program runs."""

from __future__ import annotations

from pathlib import Path


def seen_from(folder: Path, command: list[str]) -> list[str]:
    return [_word(folder, word) for word in command]


def variables_seen_from(folder: Path, env: dict[str, str]) -> dict[str, str]:
    return {name: _path(folder, value) for name, value in env.items()}


def _word(folder: Path, word: str) -> str:
    """Of `--option=value` the value may be one."""
    option, equals, value = word.partition("=")
    if equals and option.startswith("-"):
        return f"{option}={_path(folder, value)}"
    return _path(folder, word)


def _path(folder: Path, word: str) -> str:
    """Only of what looks like a path: a word may by chance be the name of a file."""
    if word.startswith("/") or not ("/" in word or "." in word):
        return word
    try:
        place = folder / word
        return str(place.absolute()) if place.is_file() else word
    except (OSError, ValueError):
        return word
