"""From a plan to a run folder, with engines that do not run anything."""

from __future__ import annotations

import errno
import io
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from testbed.cli.deploy import command as deploy_command
from testbed.emulation.guest.engine import memory_mb
from testbed.errors import InputError, RunFailed, TestbedError
from testbed.run import engine as engines
from testbed.run.deploy import Outcome, deploy, prepare, run_id
from testbed.run.display import JsonView, PlainView, Situation
from testbed.run.engine import Ability, Clock, Event, Options, choose
from testbed.run.folder import RunFolder
from testbed.topology.plan import Broker, Network, Plan


def plan(brokers: int = 1) -> Plan:
    return Plan("t", 7, Network(), [Broker(f"B{n}", "h", "10.0.0.1", 5000) for n in range(brokers)])


class FakeEngine:
    """Behaves as told; keeps what it was asked."""

    name = "fake"

    def __init__(self, act: Callable[[RunFolder], int] | None = None) -> None:
        self.act = act or done
        self.asked: list[str] = []
        self.folder: RunFolder | None = None

    def clocks(self) -> tuple[Clock, ...]:
        return ("virtual",)

    def probe(self) -> Ability:
        return Ability(True, "")

    def start(self, run: RunFolder, options: Options) -> None:
        self.asked.append("start")
        self.folder = run

    def execute(self, on_event: Callable[[Event], None]) -> int:
        self.asked.append("execute")
        assert self.folder is not None
        on_event({"t": "state", "state": "phase", "phase": "one", "detail": ""})
        return self.act(self.folder)

    def collect(self) -> None:
        self.asked.append("collect")

    def stop(self, hard: bool = False) -> None:
        self.asked.append("stop hard" if hard else "stop")


def finish(folder: RunFolder, status: str) -> int:
    manifest = folder.read_manifest()
    manifest.status = status
    folder.write_manifest(manifest)
    return 0 if status == "done" else 1


def done(folder: RunFolder) -> int:
    return finish(folder, "done")


def run(tmp_path: Path, engine: FakeEngine) -> tuple[Outcome, list[Event]]:
    folder = prepare(plan(), None, tmp_path, "fake", "virtual", "test")
    events: list[Event] = []
    return deploy(folder, engine, Options("virtual"), events.append), events


# ---------------------------------------------------------------- the folder


def test_a_prepared_folder_tells_what_will_run(tmp_path: Path) -> None:
    source = tmp_path / "topo.yaml"
    source.write_text("name: t\n")
    folder = prepare(plan(), source, tmp_path / "results", "guest", "virtual", "testbed deploy topo.yaml")
    manifest = folder.read_manifest()
    assert (manifest.status, manifest.engine, manifest.clock, manifest.seed) == (
        "running",
        "guest",
        "virtual",
        7,
    )
    assert folder.topology.read_text() == "name: t\n"
    assert folder.read_plan() == plan()
    assert set(manifest.hashes) == {"topology.yaml", "plan.json"}
    assert manifest.started.endswith("+00:00")


def test_latest_points_to_the_newest_and_two_runs_of_a_second_differ(tmp_path: Path) -> None:
    first, second = (prepare(plan(), None, tmp_path, "fake", "virtual") for _ in range(2))
    assert first.path != second.path
    assert (tmp_path / "t" / "latest").resolve() == second.path
    assert os.readlink(tmp_path / "t" / "latest") == second.path.name  # the results folder can be moved


def test_a_folder_that_takes_no_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(dir: Path) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(dir / "x"))

    monkeypatch.setattr("testbed.run.folder.tempfile.TemporaryFile", read_only)
    with pytest.raises(InputError, match=r"/t: the folder for results cannot be written: Read-only file sys"):
        prepare(plan(), None, tmp_path, "fake", "virtual")


@pytest.mark.parametrize("step", ["reserve", "point_latest"])
def test_a_disk_that_fills_up_leaves_no_half_made_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(folder: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(f"testbed.run.deploy.{step}", full)
    with pytest.raises(TestbedError, match="cannot be made: No space left on device"):
        prepare(plan(), None, tmp_path, "fake", "virtual")
    assert list((tmp_path / "t").iterdir()) == []


def test_a_latest_that_is_no_link_leaves_nothing_half_made(tmp_path: Path) -> None:
    (tmp_path / "t" / "latest").mkdir(parents=True)
    with pytest.raises(TestbedError, match=r"cannot be made: Is a directory"):
        prepare(plan(), None, tmp_path, "fake", "virtual")
    assert [entry.name for entry in (tmp_path / "t").iterdir()] == ["latest"]


def test_run_ids_sort_by_time() -> None:
    assert run_id(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)).startswith("20260102T030405-")


# ---------------------------------------------------------------- running


def test_engine_methods_come_in_order_and_events_carry_the_wall_clock(tmp_path: Path) -> None:
    engine = FakeEngine()
    outcome, events = run(tmp_path, engine)
    assert engine.asked == ["start", "execute", "collect", "stop"]
    assert (outcome.code, outcome.manifest.status, outcome.kept) == (0, "done", False)
    assert events[0]["wall_s"] >= 0
    assert outcome.manifest.ended
    assert outcome.manifest.wall_seconds >= 0


def failing(error: Exception) -> Callable[[RunFolder], int]:
    def act(folder: RunFolder) -> int:
        (folder.events / "B1.jsonl").write_text('{"t_us":1}\n')
        raise error

    return act


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "/x/events"),
            "No space left on device (/x/events)",
        ),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "Cannot allocate memory"),
        (
            FileNotFoundError(errno.ENOENT, "No such file or directory", "tcpdump"),
            "No such file or directory (tcpdump)",
        ),
        (RunFailed("no kernel", hint="build one"), "no kernel (fix: build one)"),
    ],
)
def test_what_goes_wrong_is_said_and_what_was_collected_stays(
    tmp_path: Path, error: Exception, told: str
) -> None:
    engine = FakeEngine(failing(error))
    outcome, _ = run(tmp_path, engine)
    assert (outcome.code, outcome.manifest.status, outcome.manifest.reason) == (1, "failed", told)
    assert (outcome.folder.events / "B1.jsonl").read_text() == '{"t_us":1}\n'
    assert engine.asked[-2:] == ["collect", "stop"]


def test_an_engine_that_vanishes_is_a_failure(tmp_path: Path) -> None:
    outcome, _ = run(tmp_path, FakeEngine(lambda folder: 0))
    assert outcome.manifest.status == "failed"
    assert "without a word" in outcome.manifest.reason
    assert outcome.code == 1


def test_ctrl_c_is_an_order_and_the_second_one_is_hard(tmp_path: Path) -> None:
    def interrupted(folder: RunFolder) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        return finish(folder, "aborted")

    engine = FakeEngine(interrupted)
    outcome, _ = run(tmp_path, engine)
    assert engine.asked == ["start", "execute", "stop", "stop hard", "collect", "stop"]
    assert (outcome.code, outcome.manifest.status) == (1, "aborted")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_run_that_was_cut_off_by_the_user_is_aborted_not_failed(tmp_path: Path) -> None:
    def cut_off(folder: RunFolder) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        raise RunFailed("the guest died")

    outcome, _ = run(tmp_path, FakeEngine(cut_off))
    assert (outcome.code, outcome.manifest.status) == (1, "aborted")
    assert outcome.manifest.reason.startswith("interrupted")


# ---------------------------------------------------------------- choosing an engine


def test_an_unknown_engine_lists_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        engines.engine("gest")
    assert caught.value.hint is not None
    assert "guest" in caught.value.hint


def test_a_clock_that_the_engine_lacks_is_refused() -> None:
    with pytest.raises(InputError, match="host engine has no virtual clock"):
        choose("host", "virtual")


def test_an_engine_that_cannot_run_is_an_error_never_a_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    from testbed.emulation.host.engine import HostEngine

    monkeypatch.setattr(HostEngine, "probe", lambda self: Ability(False, "no netem", "use --engine guest"))
    with pytest.raises(TestbedError, match="cannot run here: no netem"):
        choose("host", None)


def test_a_guest_gets_memory_for_its_plan() -> None:
    assert memory_mb(plan(1)) < memory_mb(plan(63)) < 16_000


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize("text", ["name: [", "nonsense: 1\n", None])
def test_bad_input_starts_nothing(tmp_path: Path, text: str | None) -> None:
    topology = tmp_path / "topo.yaml"
    if text is not None:
        topology.write_text(text)
    results = tmp_path / "results"
    ran = CliRunner().invoke(deploy_command, [str(topology), "--results", str(results)])
    assert isinstance(ran.exception, TestbedError)
    assert ran.exception.exit_code == 2
    assert not results.exists()


@pytest.mark.parametrize("option", [["--keep"], ["--memory", "512"]])
def test_an_option_that_the_engine_has_no_use_for_is_refused(tmp_path: Path, option: list[str]) -> None:
    topology = Path(__file__).parents[2] / "topologies" / "quickstart.yaml"
    arguments = [str(topology), "--engine", "simulate", "--results", str(tmp_path / "results"), *option]
    ran = CliRunner().invoke(deploy_command, arguments)
    assert ran.exit_code == 2
    assert not (tmp_path / "results").exists()


# ---------------------------------------------------------------- progress


def progress(clock_us: int, delivered: int, links: int = 6) -> Event:
    return {
        "t": "progress", "clock_us": clock_us, "phase": "run", "stage": "running", "waiting": "",
        "brokers": [7, 7], "links": [links, 6], "clients": [9, 9], "published": 1, "delivered": delivered,
    }  # fmt: skip


def test_the_live_line_says_phase_brokers_links_clocks_and_rate() -> None:
    situation = Situation()
    situation.take(progress(1_000_000, 0) | {"wall_s": 0.5})
    situation.take(progress(11_000_000, 250, links=4) | {"wall_s": 2.0})
    assert situation.line() == (
        "run: running  brokers 7/7  links 4/6  clients 9/9  clock 10.0 s, wall 2.0 s  250 deliveries (25/s)"
    )


def test_plain_output_is_a_few_lines() -> None:
    out = io.StringIO()
    show = PlainView(out)
    for n in range(1000):
        show(progress(n * 1_000_000, n))
    show({"t": "state", "state": "ready", "phase": "run", "detail": "", "clock_us": 0})
    show({"t": "warning", "text": "B1 died", "clock_us": 0})
    assert len(out.getvalue().splitlines()) == 2


def test_json_output_is_every_event() -> None:
    out = io.StringIO()
    show = JsonView(out)
    show(progress(1, 2))
    assert msgspec.json.decode(out.getvalue()) == progress(1, 2)
