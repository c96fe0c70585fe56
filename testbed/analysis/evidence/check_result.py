"""A run's check: what was checked, how it went, why, on what evidence. What could not be checked is unknown.

They are the run folder's verdicts.json; a `Verdict` (testbed/figures) is on a paper's claim.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from testbed.run.folder import write_atomically

Outcome = Literal["pass", "fail", "unknown"]


class CheckResult(msgspec.Struct):
    name: str
    verdict: Outcome
    reason: str
    evidence: list[Any] = []

    @property
    def failed(self) -> bool:
        return self.verdict == "fail"


def write_check_results(path: Path, results: list[CheckResult]) -> None:
    write_atomically(path, msgspec.json.format(msgspec.json.encode(results), indent=1))
