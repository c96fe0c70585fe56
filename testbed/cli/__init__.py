"""The `testbed` command. One file per verb; `app` finds them, `main` turns errors into exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

INTERRUPTED = 130

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """`testbed.cli.app.main`, imported here, so that Ctrl-C meanwhile ends it in a word as well."""
    try:
        from testbed.cli.app import main as run
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    run(argv)
