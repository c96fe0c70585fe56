"""How long a stream may be silent though it still has something to say.

While a path is cut, TCP waits twice as long before every further try: after a cut of so many seconds it may
take as many until it tries again. A run that ended in that silence would lose what nobody has lost.
"""

from __future__ import annotations

from testbed.run.faults import CUTS, repaired

FIRST_TRY_US = 1_000_000  # at most, on any path that a plan would have
LONGEST_US = 121_000_000  # between two tries of Linux, and some


class Silence:
    """Told of every change of the network; `until_us`: by then everything has been tried again."""

    def __init__(self) -> None:
        self.until_us = 0
        self._since: dict[tuple[str, str], int] = {}  # by action and object

    def changed(self, now_us: int, action: str, target: str) -> None:
        if action in CUTS:
            self._since.setdefault((action, target), now_us)
        for cut in repaired(self._since, action, target):
            lasted_us = now_us - self._since.pop(cut)
            self.until_us = max(self.until_us, now_us + min(lasted_us + FIRST_TRY_US, LONGEST_US))
