"""The page of a run while it goes on: served to this machine only, read-only, behind a random address."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from testbed.report.event_log import Tail, decode
from testbed.report.live_tables import live_tables
from testbed.report.page_frame import ASSETS, command, page, path_word
from testbed.report.run_data import RunData, drawn_faults, read_about
from testbed.report.run_page import run_body
from testbed.run.folder import RunFolder

OVER = (
    '<div id="over" class="notice" role="status" hidden><p>The run is over: these are its numbers. '
    "The wire, the links and the checks come with the tables:</p>{commands}</div>"
)
GONE = (
    '<div id="gone" class="notice bad" role="status" hidden><p>The server of this page is gone: '
    "this is the last state it told.</p></div>"
)
POLICY = (
    "default-src 'none'; img-src data:; connect-src 'self'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'"
)


@dataclass(frozen=True)
class Patience:
    """With the pages that are open when the run is over, in seconds."""

    follows_s: float = 10.0  # a page that has not asked for so long is closed
    again_s: float = 5.0  # for those that are open to ask again
    longest_s: float = 30.0


class LivePage:
    """The state of the page; looks into the run folder when it is asked, and not more often."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._plan = folder.read_plan()
        self._about = read_about(folder.topology)
        self._tail = Tail(folder.events)
        self._tables = live_tables(folder, self._plan)
        self._lock = threading.Lock()
        self.line = "starting"
        self.warnings: list[str] = []
        self.over = False

    def body(self) -> str:
        with self._lock:
            for event in decode(self._tail.lines()):
                self._tables.take(event)
            said = f"live: {self.line}" if not self.over else "over"
            kind = "live" if not self.over else "live over"
            return run_body(self._run(), f'<p class="{kind}"><i></i>{escape(said)}</p>')

    def _run(self) -> RunData:
        manifest, live = self._folder.read_manifest(), self._tables
        manifest.first_us = manifest.first_us or live.first_us
        manifest.last_us = manifest.last_us or live.last_us
        told = (w for w in self.warnings if w not in manifest.warnings)
        manifest.warnings = (*manifest.warnings, *told)
        faults = drawn_faults(live.faults, manifest.first_us, manifest.last_us)
        fidelity = self._folder.read_fidelity()
        run = RunData(self._folder, manifest, self._plan, fidelity, [], faults, about=self._about)
        return replace(run, live=live.tables())

    def whole(self) -> str:
        run = path_word(self._folder.path)
        commands = command(f"testbed analyze {run} && testbed report {run} --open")
        over, script = OVER.format(commands=commands), (ASSETS / "live.js").read_text(encoding="utf-8")
        body = f'<div id="live">{self.body()}</div>{over}{GONE}<script>{script}</script>'
        return page(f"{self._plan.name}, live", body)


class Viewers:
    """Open pages and when each asked last, so that the last state reaches all of them before the end."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._asked: dict[str, float] = {}
        self._answering = 0
        self._changed = threading.Condition()

    @contextmanager
    def answering(self, viewer: str, last: bool) -> Iterator[None]:
        """`last`: it has the last state then and will not ask again."""
        with self._changed:
            self._answering += 1
        try:
            yield
        finally:
            with self._changed:
                self._answering -= 1
                self._asked[viewer] = time.monotonic()
                if last:
                    del self._asked[viewer]
                self._changed.notify_all()

    def wait(self) -> None:
        """Until everybody who follows has the last state; a large page on a busy machine takes its time."""
        began = time.monotonic()
        with self._changed:
            while self._waits(began) and time.monotonic() < began + self._patience.longest_s:
                self._changed.wait(0.1)

    def _waits(self, began: float) -> bool:
        now = time.monotonic()
        following = [at for at in self._asked.values() if at > began - self._patience.follows_s]
        return self._answering > 0 or any(max(at, began) > now - self._patience.again_s for at in following)


class LiveServer:
    """Serves until `close`. Nobody else's machine can ask, and nobody without the address gets an answer."""

    def __init__(self, folder: RunFolder, patience: Patience | None = None) -> None:
        self.page = LivePage(folder)
        self.token = secrets.token_urlsafe(16)
        self._viewers = Viewers(patience or Patience())
        self._server = QuietServer(("127.0.0.1", 0), handler(self.page, self.token, self._viewers))
        self._server.daemon_threads = False  # `close` waits for them: none may draw while the process ends
        self._thread = threading.Thread(target=self._server.serve_forever, name="live page", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def close(self) -> None:
        """The run is over: whoever has the page open gets its last state first."""
        self.page.over = True
        self._viewers.wait()
        self._server.shutdown()
        self._server.server_close()


class QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that breaks off, or asks nonsense, is nothing to tell on the deploy's terminal."""


def handler(live: LivePage, token: str, viewers: Viewers) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10  # of a reader that takes nothing

        def do_GET(self) -> None:
            path, _, viewer = self.path.partition("?")
            _, given, *rest = [*path.split("/"), ""]
            known = hmac.compare_digest(given.encode(), token.encode()) and self._asked_locally()
            if known and rest[0] == "" and len(rest) > 1:
                self._answer(200, live.whole())
            elif known and rest[0] == "body":
                last = live.over  # asked before the look: what is said to be the last state is it
                with viewers.answering(viewer, last):
                    self._answer(200, live.body(), last)
            else:
                self._answer(404, "not found")

        def _asked_locally(self) -> bool:
            """A page elsewhere whose name was pointed at this machine asks with its own name."""
            return self.headers.get("Host", "").split(":")[0] in ("127.0.0.1", "localhost")

        def _answer(self, code: int, text: str, last: bool = False) -> None:
            data = text.encode()
            self.send_response(code)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("Cache-Control", "no-store")
            if last:
                self.send_header("Run-Over", "1")
            with suppress(OSError):  # the reader closed the page meanwhile
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Requests are nothing to tell."""

    return Handler
