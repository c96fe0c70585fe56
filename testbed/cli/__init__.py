"""The `testbed` command. One file per verb; `app` finds them, `main` turns errors into exit codes."""

from testbed.cli.app import main

__all__ = ["main"]
