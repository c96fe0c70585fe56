"""A view of a run's progress that also feeds the live page."""

from __future__ import annotations

from testbed.report.live import LiveServer
from testbed.run.display import Situation, View
from testbed.run.engine import Event
from testbed.run.folder import RunFolder


class WatchedView:
    def __init__(self, folder: RunFolder, beside: View) -> None:
        self._server = LiveServer(folder)
        self._situation = Situation()
        self._beside = beside
        self.address = self._server.address

    def __call__(self, event: Event) -> None:
        self._situation.take(event)
        self._server.page.line = self._situation.line().replace("  ", " · ")
        if event["t"] in ("warning", "error"):
            self._server.page.warnings.append(str(event["text"]))
        self._beside(event)

    def close(self) -> None:
        self._server.close()
        self._beside.close()
