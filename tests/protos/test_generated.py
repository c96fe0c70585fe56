"""Generated code is what the .proto files say; nobody edits it."""

from __future__ import annotations

import subprocess
import sys


def test_generated_code_is_current() -> None:
    check = subprocess.run(
        [sys.executable, "-m", "protos.generate", "--check"], capture_output=True, text=True, check=False
    )
    assert check.returncode == 0, check.stderr
