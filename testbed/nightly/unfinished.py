"""results/nightly/unfinished.json: what was ended before it was done, so that a later night can go on.

A reproduction keeps what it has finished so far (points of a sweep, parts of a computation) in its folder
and takes it from there when it is started again. That is only right for the same code: after another commit,
or with uncommitted changes, it starts anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from testbed.nightly.choice import Reproduction
from testbed.run.folder import write_atomically
from testbed.run.repository import git_state


class Unfinished(msgspec.Struct, frozen=True):
    name: str  # of the reproduction
    night: str  # whose folder has it
    words: list[str]  # the arguments of `testbed reproduce`
    commit: str  # "" = not known, or with uncommitted changes
    seconds: float  # spent so far, in all nights
    last_seconds: float  # of the last try


def commit_of_code() -> str:
    """The commit that is running; "" when that does not say which code it is."""
    commit, changed = git_state()
    return "" if changed else commit


def read_unfinished(folder: Path) -> dict[str, Unfinished]:
    try:
        found = msgspec.json.decode((folder / "unfinished.json").read_bytes(), type=list[Unfinished])
    except (OSError, msgspec.DecodeError):
        return {}
    return {one.name: one for one in found}


def write_unfinished(folder: Path, all_of_them: Iterable[Unfinished]) -> None:
    text = msgspec.json.format(msgspec.json.encode(list(all_of_them)), indent=1)
    write_atomically(folder / "unfinished.json", text)


def take_over(
    folder: Path, one: Unfinished | None, reproduction: Reproduction, night: str, commit: str
) -> bool:
    """Move what an earlier night left of it into tonight's folder; False when there is nothing that fits."""
    if one is None or not commit or (one.commit, one.words) != (commit, reproduction.words()):
        return False
    old = folder / one.night / reproduction.folder
    if not old.is_dir():
        return False
    new = folder / night / reproduction.folder
    new.parent.mkdir(parents=True, exist_ok=True)
    old.rename(new)
    return True
