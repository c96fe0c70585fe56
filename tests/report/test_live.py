"""The live page: what it shows, and whom it answers."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas
import pytest

from protos.records import LogEvent
from testbed.report.event_log import Tail, decode
from testbed.report.live import LiveServer, Patience
from testbed.report.live_tables import LiveTables, live_tables
from testbed.report.watch import WatchedView
from testbed.run.folder import RunFolder
from tests.report.webdriver import Browser

PURPOSES = {"publication": "data", "hello": "control", "ack": "control"}
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
    given = {"t_us": at, "node": "s1", "kind": "DELIVERED", "message": f"p:{second}", "group": "all"}
    return {**given, "published_us": at - delay_us}


def get(server: LiveServer, path: str, host: str = "127.0.0.1", method: str = "GET") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request(method, path, headers={"Host": host})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_follows_the_event_log(server: LiveServer, running: RunFolder) -> None:
    code, page = get(server, f"/{server.token}/")
    assert code == 200
    assert "run running" in page
    assert "Nothing was delivered yet." in page
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
    lines = [b"{", b"[]", b'{"kind":"NEVER_HEARD_OF"}', b'{"kind":"SENT","t_us":1}', b'{"kind":"SE']
    assert [(event.kind, event.t_us) for event in decode(lines)] == [("NEVER_HEARD_OF", 0), ("SENT", 1)]


def seconds(at: float) -> int:
    return START + int(at * 1e6)


def test_what_goes_to_clients_is_no_overlay_message() -> None:
    tables = LiveTables(frozenset({"B1", "B2"}), PURPOSES)
    for kind, type, peer in (
        ("FORWARDED", "publication", "B2"), ("SENT", "hello", "B2"),
        ("NOTIFIED", "publication", "s1"), ("SENT", "ack", "s1"),
    ):  # fmt: skip
        tables.take(LogEvent(t_us=seconds(1), node="B1", kind=kind, type=type, peer=peer, bytes=100))
    rows = tables.tables()["overhead"]
    counts = {(r.link, r.type): r.log_messages for r in rows[rows["class"] != "all"].itertuples()}
    assert counts == {
        ("overlay", "publication"): 1, ("overlay", "hello"): 1, ("overlay", "all"): 1,
        ("client", "publication"): 1, ("client", "ack"): 1, ("client", "all"): 1,
    }  # fmt: skip
    assert rows[rows["class"] == "all"].log_bytes.tolist() == [200, 200]
    assert dict(zip(rows.type, rows.purpose, strict=True)) == PURPOSES | {"all": "all"}


def test_stopping_is_not_counted_and_the_order_of_files_does_not_matter() -> None:
    tables = LiveTables(frozenset({"B1"}), PURPOSES)
    for at in (15, 1, 21):
        tables.take(LogEvent(t_us=seconds(at), node="B1", kind="PROCESSED"))
    for at in (15, 1, 21, 20):  # the last one in the instant of the end: the processes stop already
        tables.take(LogEvent(t_us=seconds(at), node="B1", kind="SENT", type="hello", peer="B1", bytes=10))
    tables.take(LogEvent(t_us=seconds(20), node="harness", kind="RUN_ENDED"))
    tables.take(LogEvent(t_us=seconds(0), node="harness", kind="PHASE_STARTED"))
    found = tables.tables()
    assert found["overhead"].log_messages.tolist() == [2, 2, 2]
    assert found["load"].to_dict("records") == [
        {"broker": "B1", "window_s": 0, "received_per_s": 0.1},
        {"broker": "B1", "window_s": 10, "received_per_s": 0.1},
        {"broker": "B1", "window_s": 20, "received_per_s": 0.1},
    ]


def test_a_second_copy_is_no_delivery() -> None:
    tables = LiveTables(frozenset({"B1"}), PURPOSES)
    for at in (2, 3):
        tables.take(
            LogEvent(t_us=seconds(at), node="s1", kind="DELIVERED", message="p:1", published_us=seconds(1))
        )
    assert tables.tables()["deliveries"].delay_us.tolist() == [1_000_000]


FAULTY = """
name: faulty
seed: 3
duration: 60s
network: {generator: chain, nodes: 5, link: {latency: 20ms}}
brokers: {B: {count: 5}}
overlay: {generator: chain}
clients:
  pub: {kind: publisher, broker: B1, publish: {source: stock, rate: 120/min, parameters: {symbol: YHOO}}}
  sub: {kind: subscriber, for_each: {b: [B2, B3, B5]}, broker: "{b}", subscribe: ["[symbol,eq,'YHOO']"]}
events:
  - {at: 20s, kill: B4}
  - {at: 30s, start: B4}
  - {at: 40s, restart: B4}
"""
SAME = {
    "delay": ["group_by", "group", "count", "mean_us", "p50_us", "p90_us", "p95_us", "p99_us", "max_us"],
    "overhead": ["link", "class", "type", "purpose", "log_messages", "log_bytes", "messages_per_delivery"],
    "load": ["broker", "window_s", "received_per_s"],
    "hop_distribution": ["hops", "count", "share"],
    "deliveries": ["published_us", "delivered_us", "delay_us", "group", "publisher", "broker"],
}


@pytest.mark.spark
@pytest.mark.slow
def test_the_numbers_are_those_of_the_analysis(tmp_path: Path) -> None:
    """A run with a killed broker, from its logs as the live page reads them, and by Spark."""
    from testbed.analysis import analyze
    from testbed.cli.deploy import load, run_plan

    file = tmp_path / "faulty.yaml"
    file.write_text(FAULTY)
    assert run_plan(load(file, None), file, tmp_path, "simulate", None) == 0
    folder = RunFolder((tmp_path / "faulty" / "latest").resolve())
    tables = live_tables(folder, folder.read_plan())
    for event in decode(Tail(folder.events).lines()):
        tables.take(event)
    analysis, shown = analyze([folder.path]), tables.tables()
    for name, columns in SAME.items():
        final = analysis.frame(name)
        if name == "hop_distribution":
            final = final[final.measure == "overlay"]
        if name == "deliveries":
            final = final[final.delay_us.notna()]
        left, right = (f[columns].sort_values(columns).reset_index(drop=True) for f in (shown[name], final))
        pandas.testing.assert_frame_equal(left, right, check_dtype=False, obj=name)
    assert len(shown["deliveries"]) > 300


def test_the_last_state_reaches_whoever_has_the_page_open(running: RunFolder) -> None:
    server = LiveServer(running, Patience(100.0, 100.0, 100.0))  # a busy machine
    get(server, f"/{server.token}/body?reader")
    log(running, delivery(1))
    with ThreadPoolExecutor(1) as pool:
        closing = pool.submit(server.close)
        while not server.page.over:
            time.sleep(0.01)
        body = get(server, f"/{server.token}/body?reader")[1]
        closing.result(timeout=200)
    assert "Half of 1 deliveries" in body
    assert 'class="live over"' in body
    assert not server._viewers._asked


WAIT = """const done = arguments[0], end = Date.now() + 100000;
const look = () => { const d = [...document.querySelectorAll('desc')].map(e => e.textContent).join(' ');
  if (d.includes('Half of %s deliveries') || Date.now() > end) done(d); else setTimeout(look, 100); };
look();"""
ACT = """const box = [...document.querySelectorAll('.table')]
  .find(t => t.querySelector('caption').textContent.startsWith('Delay per group'));
const button = [...box.querySelectorAll('th button')].find(b => b.textContent === 'deliveries');
button.click(); button.click();
const input = box.querySelector('input');
input.value = 'window'; input.dispatchEvent(new Event('input'));
document.querySelectorAll('#delay details')[0].open = true;
scrollTo({top: box.getBoundingClientRect().top + scrollY - 200, behavior: 'instant'});
input.focus({preventScroll: true}); input.setSelectionRange(3, 3);"""
STATE = """const box = [...document.querySelectorAll('.table')]
  .find(t => t.querySelector('caption').textContent.startsWith('Delay per group'));
const sorted = box.querySelector('th[aria-sort]');
const rows = [...box.querySelectorAll('tbody tr')].filter(r => !r.hidden);
return { open: [...document.querySelectorAll('details')].map(d => d.open).filter(o => o).length,
  sort: sorted && [sorted.textContent, sorted.getAttribute('aria-sort')],
  by: [...new Set(rows.map(r => r.cells[0].textContent))],
  counts: rows.map(r => Number(r.cells[2].textContent)),
  top: Math.round(box.getBoundingClientRect().top),
  focus: [document.activeElement.tagName, document.activeElement.selectionStart] };"""


@pytest.mark.browser
def test_updates_in_the_browser(
    browser: Browser, server: LiveServer, running: RunFolder, artifacts: Path
) -> None:
    browser.size(1200)
    browser.media()
    browser.open(server.address)
    log(running, *(delivery(s / 10) for s in range(100)))
    assert "Half of 100 deliveries" in browser.run_until_done(WAIT % 100)
    assert browser.console() == []
    browser.screenshot(artifacts / "live.png")


@pytest.mark.browser
def test_a_renewal_leaves_the_reader_where_he_was(
    browser: Browser, server: LiveServer, running: RunFolder
) -> None:
    log(running, *(delivery(s) for s in range(101)))
    browser.size(1200)
    browser.media()
    browser.open(server.address)
    browser.run(ACT)
    before = browser.run(STATE)
    assert before["open"] == 1
    assert before["by"] == ["window"]
    log(running, *(delivery(s + 0.5) for s in range(81, 200)))
    browser.run_until_done(WAIT % 220)
    after = browser.run(STATE)
    assert after["counts"] == sorted(after["counts"], reverse=True)
    assert len(after["counts"]) > len(before["counts"]) == 11
    assert after == before | {"counts": after["counts"]}
    assert browser.console() == []


def test_a_request_that_fails_prints_nothing(server: LiveServer, capfd: pytest.CaptureFixture[str]) -> None:
    """No terminal of a deploy shows a traceback, whatever a browser does."""
    try:
        raise ConnectionResetError
    except ConnectionResetError:
        server._server.handle_error(None, ("127.0.0.1", 1))
    said = capfd.readouterr()
    assert said.err + said.out == ""
