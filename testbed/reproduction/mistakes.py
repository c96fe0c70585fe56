"""A mistake in a paper's own code is told as that: what, in which file and line, and not as a defect of the
testbed. `--debug` shows the whole way to it."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from testbed.errors import InputError, TestbedError

K = TypeVar("K")
OURS = Path(__file__).parents[1]  # the testbed's package
HINT = "the paper's code is wrong there, or uses the framework wrongly: docs/add-a-paper.md"


@contextmanager
def told_as_the_papers(paper: str, doing: str) -> Iterator[None]:
    """`doing`: what the paper's code was asked for."""
    try:
        yield
    except TestbedError:
        raise  # it was written for users, and says where
    except (Exception, SystemExit) as error:
        file, line = place_of(error)
        if file is None:
            raise
        message = f"the paper {paper!r} cannot {doing}: {type(error).__name__}: {error}"
        raise InputError(message, file=file, line=line, hint=HINT) from error


def all_are(kind: type[K], found: Iterable[object], paper: str, what: str) -> list[K]:
    """What the paper's code returned, checked; InputError names the first that is something else."""
    made = []
    for one in found:
        if not isinstance(one, kind):
            message = f"the paper {paper!r}: {what} are {kind.__name__}s, not {type(one).__name__}"
            raise InputError(message, hint=HINT)
        made.append(one)
    return made


def place_of(error: BaseException) -> tuple[str | None, int | None]:
    """The last line on the way that is neither the testbed's nor a library's; none: it is no mistake of the
    paper's."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_papers(frame.filename)]
    return (frames[-1].filename, frames[-1].lineno) if frames else (None, None)


def is_papers(file: str) -> bool:
    path = Path(file)
    is_library = any(part in ("site-packages", "dist-packages") for part in path.parts)
    return path.exists() and not path.is_relative_to(OURS) and not is_library and not is_standard(path)


def is_standard(path: Path) -> bool:
    """Of Python itself."""
    return path.is_relative_to(Path(traceback.__file__).parent)
