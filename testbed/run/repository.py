"""The commit that runs: for the manifests of runs, reproductions and nights."""

from __future__ import annotations

import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CODE = (".", ":!results")  # results are made by code; where they were not copied to, the code is whole


def git(*arguments: str, repository: Path = REPOSITORY) -> str:
    """Output of git in the project, or "" outside a checkout. Root may ask in a user's clone, too."""
    command = ["git", "-c", f"safe.directory={repository}", *arguments]
    try:
        done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def git_state(repository: Path = REPOSITORY) -> tuple[str, bool]:
    """The commit and whether the code differs from it; empty where there is no repository."""
    commit = git("rev-parse", "HEAD", repository=repository)
    return commit, bool(commit and changes(repository))


def changes(repository: Path = REPOSITORY) -> str:
    """Files of the code that differ from the commit, a line each."""
    return git("status", "--porcelain", "--untracked-files=no", "--", *CODE, repository=repository)
