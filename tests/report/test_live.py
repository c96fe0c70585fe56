"""The live page: what it shows, and whom it answers."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from webdriver import Browser

from testbed.report.live import LiveServer
from testbed.report.live_tables import LiveTables, Tail, decode
from testbed.report.watch import WatchedView
from testbed.runfolder import RunFolder

START = 1_700_000_000_000_000


@pytest.fixture
def running(golden: Path) -> RunFolder:
    """The golden run as it was when nothing had been published yet."""
    folder = RunFolder(golden)
    manifest = folder.read_manifest()
    manifest.status, manifest.first_us, manifest.last_us = "running", 0, 0
    folder.write_manifest(manifest)
    folder.fidelity.unlink()
    for log in folder.events.iterdir():
        log.unlink()
    return folder


@pytest.fixture
def server(running: RunFolder) -> Iterator[LiveServer]:
    server = LiveServer(running)
    yield server
    server.close()


def log(folder: RunFolder, *events: dict[str, object]) -> None:
    with (folder.events / "clients.jsonl").open("a") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)


def delivery(second: float, delay_us: int = 5000) -> dict[str, object]:
    at = START + int(second * 1e6)
    return {"t_us": at, "node": "s1", "kind": "DELIVERED", "published_us": at - delay_us, "group": "all"}


def get(server: LiveServer, path: str, host: str = "127.0.0.1", method: str = "GET") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request(method, path, headers={"Host": host})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_follows_the_event_log(server: LiveServer, running: RunFolder) -> None:
    code, page = get(server, f"/{server.token}/")
    assert code == 200
    assert "run running" in page
    assert "Nothing was delivered." in page
    log(running, delivery(1), delivery(2, 9000))
    assert "Half of 2 deliveries took at most 7 ms" in get(server, f"/{server.token}/body")[1]
    log(running, delivery(3))
    assert "Half of 3 deliveries" in get(server, f"/{server.token}/body")[1]


def test_answers_only_who_knows_the_address(server: LiveServer) -> None:
    assert get(server, "/")[0] == 404
    assert get(server, "/guess/body")[0] == 404
    assert get(server, f"/{server.token}/../manifest.json")[0] == 404
    assert get(server, f"/{server.token}/body", host="evil.example:80")[0] == 404
    assert len(server.token) >= 20


def test_is_read_only_and_local(server: LiveServer) -> None:
    assert get(server, f"/{server.token}/body", method="POST")[0] == 501
    assert server.address.startswith("http://127.0.0.1:")
    assert server._server.server_address[0] == "127.0.0.1"


def test_progress_reaches_the_page(running: RunFolder) -> None:
    class Beside:
        seen = 0

        def __call__(self, event: dict[str, object]) -> None:
            self.seen += 1

        def close(self) -> None:
            self.seen = -1

    beside = Beside()
    view = WatchedView(running, beside)
    view({"t": "state", "state": "ready", "phase": "overlay", "detail": ""})
    view({"t": "warning", "text": "<the disk is nearly full>"})
    body = get(view._server, f"/{view._server.token}/body")[1]
    assert "overlay: ready" in body
    assert "&lt;the disk is nearly full&gt;" in body
    assert beside.seen == 2
    view.close()
    assert beside.seen == -1
    with pytest.raises(OSError, match="refused"):
        get(view._server, "/")


def test_an_unfinished_line_waits_for_its_end(tmp_path: Path) -> None:
    tail = Tail(tmp_path)
    (tmp_path / "B1.jsonl").write_bytes(b'{"a":1}\n{"b"')
    assert tail.lines() == [b'{"a":1}']
    assert tail.lines() == []
    with (tmp_path / "B1.jsonl").open("ab") as file:
        file.write(b":2}\n")
    assert tail.lines() == [b'{"b":2}']


def test_lines_that_are_no_events_are_passed_over() -> None:
    assert decode([b"{", b"[]", b'{"kind":"SENT"}', b'{"kind":"SENT","t_us":1}']) == [
        {"kind": "SENT", "t_us": 1}
    ]


def test_load_and_overhead() -> None:
    live = LiveTables()
    for second in (0, 1, 12):
        at = START + second * 1_000_000
        live.take({"t_us": at, "node": "B1", "kind": "PROCESSED"})
        live.take({"t_us": at, "node": "B1", "kind": "FORWARDED", "type": "publication", "bytes": 100})
    tables = live.tables()
    assert tables["load"].to_dict("records") == [
        {"broker": "B1", "window_s": 0, "received_per_s": 0.2},
        {"broker": "B1", "window_s": 10, "received_per_s": 0.1},
    ]
    (row,) = tables["overhead"].to_dict("records")
    assert (row["type"], row["log_messages"], row["log_bytes"]) == ("publication", 3, 300)


@pytest.mark.browser
def test_updates_in_the_browser(
    browser: Browser, server: LiveServer, running: RunFolder, artifacts: Path
) -> None:
    browser.size(1200)
    browser.media()
    browser.open(server.address)
    log(running, *(delivery(s / 10) for s in range(100)))
    wait = """const done = arguments[0], end = Date.now() + 30000;
    const look = () => { const d = [...document.querySelectorAll('desc')].map(e => e.textContent).join(' ');
      if (d.includes('Half of 100 deliveries') || Date.now() > end) done(d); else setTimeout(look, 100); };
    look();"""
    assert "Half of 100 deliveries" in browser.run_until_done(wait)
    assert browser.console() == []
    browser.screenshot(artifacts / "live.png")
