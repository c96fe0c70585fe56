"""The page of a run while it goes on: served to this machine only, read-only, behind a random address."""

from __future__ import annotations

import contextlib
import hmac
import secrets
import threading
from dataclasses import replace
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from testbed.report.live_tables import LiveTables, Tail, decode
from testbed.report.page import page
from testbed.report.run_data import RunData, read_faults
from testbed.report.run_page import run_body
from testbed.runfolder import RunFolder

SCRIPT = """<script>
const update = async () => {
  try {
    const answer = await fetch("body", {cache: "no-store"});
    if (!answer.ok) throw new Error(answer.status);
    const text = await answer.text();
    document.getElementById("live").innerHTML = text;
    prepareTables();
    setTimeout(update, 2000);
  } catch (error) { document.getElementById("gone").hidden = false; }
};
setTimeout(update, 1000);
</script>"""
GONE = (
    '<div id="gone" class="notice" role="status" hidden><p>The run is over, or its server is gone: '
    "this is its last state.</p></div>"
)
POLICY = (
    "default-src 'none'; img-src data:; connect-src 'self'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'"
)


class LivePage:
    """The state of the page; looks into the run folder when it is asked, and not more often."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._plan = folder.read_plan()
        self._tail = Tail(folder.events)
        self._tables = LiveTables()
        self._lock = threading.Lock()
        self.line = "starting"
        self.warnings: list[str] = []

    def body(self) -> str:
        with self._lock:
            for event in decode(self._tail.lines()):
                self._tables.take(event)
            return run_body(self._run(), f'<p class="live"><i></i>live: {escape(self.line)}</p>')

    def _run(self) -> RunData:
        manifest = self._folder.read_manifest()
        first, last = self._tables.first_us, self._tables.last_us
        manifest.first_us, manifest.last_us = manifest.first_us or first, manifest.last_us or last
        manifest.warnings = (*manifest.warnings, *self.warnings)
        faults = read_faults(self._folder.events, manifest.first_us, manifest.last_us)
        run = RunData(self._folder, manifest, self._plan, self._folder.read_fidelity(), [], faults)
        return replace(run, live=self._tables.tables())

    def whole(self) -> str:
        return page("Live run", f'{GONE}<div id="live">{self.body()}</div>{SCRIPT}')


class LiveServer:
    """Serves until `close`. Nobody else's machine can ask, and nobody without the address gets an answer."""

    def __init__(self, folder: RunFolder) -> None:
        self.page = LivePage(folder)
        self.token = secrets.token_urlsafe(16)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self.page, self.token))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="live page", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def handler(live: LivePage, token: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            _, given, *rest = [*self.path.split("?")[0].split("/"), ""]
            known = hmac.compare_digest(given.encode(), token.encode()) and self._asked_locally()
            if known and rest[0] == "" and len(rest) > 1:
                self._answer(200, live.whole())
            elif known and rest[0] == "body":
                self._answer(200, live.body())
            else:
                self._answer(404, "not found")

        def _asked_locally(self) -> bool:
            """A page elsewhere whose name was pointed at this machine asks with its own name."""
            return self.headers.get("Host", "").split(":")[0] in ("127.0.0.1", "localhost")

        def _answer(self, code: int, text: str) -> None:
            data = text.encode()
            self.send_response(code)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("Cache-Control", "no-store")
            with contextlib.suppress(ConnectionError):  # the reader closed the page meanwhile
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Requests are nothing to tell."""

    return Handler
