"""Under sudo, what a verb makes belongs to the user who asked, not to root."""

from __future__ import annotations

import contextlib
import os
import pwd
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class Asker(NamedTuple):
    uid: int
    gid: int


def asker(environment: Mapping[str, str] = os.environ) -> Asker | None:
    """The user who typed `sudo`; None for a user, and for a root who is root."""
    try:
        found = Asker(int(environment["SUDO_UID"]), int(environment["SUDO_GID"]))
    except (KeyError, ValueError):
        return None
    return found if os.geteuid() == 0 and found.uid != 0 else None


def home_of_asker() -> Path | None:
    """Where the asker's kernel and settings are."""
    one = asker()
    if one is None:
        return None
    with contextlib.suppress(KeyError):
        return Path(pwd.getpwuid(one.uid).pw_dir)
    return None


@contextlib.contextmanager
def belongs_to_asker(*folders: Path) -> Iterator[None]:
    """What is in these folders after the block, and the folders themselves, are the asker's."""
    one = asker()
    try:
        yield
    finally:
        if one is not None:
            for folder in folders:
                give(folder, one)


def give(folder: Path, to: Asker) -> None:
    """Links are given, not followed."""
    for path in (folder, *folder.rglob("*")):
        with contextlib.suppress(FileNotFoundError):  # somebody tidies meanwhile
            os.chown(path, to.uid, to.gid, follow_symlinks=False)


def make_folders(folder: Path) -> None:
    """The folder and its parents as far as they are missing, all of them the asker's."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    if (one := asker()) is not None:
        for path in missing:
            os.chown(path, one.uid, one.gid)


def whose(path: Path, me: int) -> tuple[Path, str] | None:
    """What another user owns on the way to this path, inside a folder of `me`, and who that is; else None."""
    known = [one for one in (path.absolute(), *path.absolute().parents) if one.exists()]
    if me == 0 or not known or (owner := known[0].stat().st_uid) == me:
        return None
    outermost = known[0]
    for one in known[1:]:
        if one.stat().st_uid == me:
            return outermost, _name(owner)
        outermost = one
    return None  # a place of the system: nothing that anybody should give away


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def remedy(path: Path, me: int | None = None) -> tuple[str, str] | None:
    """For what may not be written: whose it is, and the command that makes it this user's."""
    uid = os.geteuid() if me is None else me
    found = whose(path, uid)
    if found is None:
        return None
    place, owner = found
    return f"{place} belongs to {owner}", f"sudo chown -R {_name(uid)}: {shlex.quote(str(place))}"
