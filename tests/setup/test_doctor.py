"""The doctor: every probe told apart from its failure, the choice of engine, and nothing left behind."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from testbed.cli.doctor import command
from testbed.doctor import attempt as attempting
from testbed.doctor import (
    examination,
    guest_boot,
    guest_engine,
    guest_kernel,
    host_engine,
    leftovers,
    resources,
)
from testbed.doctor.engines import Choice, choose, chosen
from testbed.doctor.finding import Finding, State
from testbed.emulation.network.created import boot_id, start_time
from testbed.errors import TestbedError


class FakeCommands:
    """A folder that is the whole PATH, for machines that we do not have."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, name: str, script: str) -> None:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCommands:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return FakeCommands(tmp_path)


# ---- trying -----------------------------------------------------------------------------------------------


def test_a_command_that_is_not_there_has_not_worked(commands: FakeCommands) -> None:
    outcome = attempting.attempt(["nothing-here"])
    assert not outcome.worked
    assert outcome.why == "nothing-here: no such command"


def test_a_command_that_hangs_has_not_worked() -> None:
    outcome = attempting.attempt(["sleep", "60"], timeout_s=0.1)
    assert not outcome.worked
    assert "timed out" in outcome.why


def test_the_reason_is_the_last_complaint() -> None:
    outcome = attempting.attempt(["sh", "-c", "echo first >&2; echo second >&2; exit 3"])
    assert (outcome.worked, outcome.why) == (False, "second")


# ---- the host engine --------------------------------------------------------------------------------------


def test_netem_is_ok_when_the_qdisc_shows(commands: FakeCommands) -> None:
    commands.add("unshare", "echo qdisc netem 8001: root refcnt 2 limit 1000 delay 1ms")
    assert host_engine.netem().state is State.OK


def test_netem_is_not_ok_when_the_command_works_but_no_netem_shows(commands: FakeCommands) -> None:
    commands.add("unshare", "echo qdisc noqueue 0: root")
    assert host_engine.netem().state is State.MISSING


def test_missing_netem_that_can_be_loaded_is_loaded(commands: FakeCommands) -> None:
    commands.add("unshare", "echo Error: Specified qdisc kind is unknown. >&2; exit 2")
    commands.add("modprobe", "exit 0")
    finding = host_engine.netem()
    assert finding.fix == "sudo modprobe sch_netem"
    assert "Specified qdisc kind is unknown" in finding.detail


def test_missing_netem_that_cannot_be_loaded_points_to_the_guest(commands: FakeCommands) -> None:
    commands.add("unshare", "exit 2")
    commands.add("modprobe", "exit 1")
    assert "--engine guest" in (host_engine.netem().fix or "")


def test_missing_openvswitch_program_is_installed(commands: FakeCommands) -> None:
    commands.add("unshare", "echo sh: 1: ovs-dpctl: not found >&2; exit 127")
    fix = host_engine.openvswitch().fix
    assert fix == "sudo apt-get install -y --no-install-recommends openvswitch-switch"


def test_missing_openvswitch_module_is_loaded(commands: FakeCommands) -> None:
    commands.add("unshare", "echo 'ovs-dpctl: add_dp (No such file or directory)' >&2; exit 1")
    commands.add("modprobe", "exit 0")
    assert host_engine.openvswitch().fix == "sudo modprobe openvswitch"


def test_the_netem_probe_agrees_with_this_kernel_and_leaves_nothing() -> None:
    """The probe against a trial of our own, and the namespaces and interfaces before and after."""
    before = machine_state()
    found = host_engine.netem()
    script = "tc qdisc add dev lo root netem delay 5ms"
    ours = subprocess.run(attempting.in_new_network(script), capture_output=True, check=False)
    assert found.ok == (ours.returncode == 0)
    assert machine_state() == before


def machine_state() -> tuple[str, str]:
    def run(*argv: str) -> str:
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout

    return run("ip", "-o", "netns", "list"), run("tc", "qdisc", "show", "dev", "lo")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: makes a namespace for real")
def test_root_probe_makes_a_namespace() -> None:
    made = subprocess.run(["unshare", "--net", "true"], check=False).returncode == 0
    assert (host_engine.root().state is State.OK) == made


def test_a_plain_user_is_told_and_not_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    finding = host_engine.root()
    assert (finding.state, finding.fix) == (State.NOTE, None)


# ---- the guest engine -------------------------------------------------------------------------------------


def test_executable_memory_in_a_folder_that_allows_it(tmp_path: Path) -> None:
    assert guest_engine.executable_memory(tmp_path).state is State.OK


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: mounts a noexec tmpfs")
def test_executable_memory_in_a_folder_mounted_noexec(tmp_path: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "none", str(tmp_path)], check=True)
    try:
        finding = guest_engine.executable_memory(tmp_path)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
    assert finding.state is State.MISSING
    assert finding.fix == f"sudo mount -o remount,exec {tmp_path}"
    assert finding.wanted_by == ("guest",)


def test_kvm_is_never_demanded(tmp_path: Path) -> None:
    finding = guest_engine.kvm(tmp_path / "kvm")
    assert (finding.state, finding.fix) == (State.NOTE, None)


def test_ptrace_works_here() -> None:
    """It must: this is how the guest tests of this machine run."""
    assert guest_engine.ptrace().ok


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("TESTBED_KERNEL", raising=False)
    return tmp_path


def test_no_kernel_but_all_to_build_one(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest_kernel, "obstacle", lambda: None)
    finding = guest_kernel.guest_kernel()
    assert (finding.state, finding.fix) == (State.MISSING, "testbed kernel build")
    assert "everything to build one is here" in finding.detail


def test_no_kernel_and_no_compiler(empty_cache: Path, commands: FakeCommands) -> None:
    finding = guest_kernel.guest_kernel()
    assert "gcc" in finding.detail
    assert finding.fix == "sudo make system-packages"


def test_no_kernel_and_no_disk(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from testbed.emulation.kernel import build

    monkeypatch.setattr("testbed.emulation.kernel.source.choose", lambda: None)
    monkeypatch.setattr(guest_kernel.shutil, "which", lambda _name: "/usr/bin/there")
    monkeypatch.setattr(guest_kernel, "Path", lambda _name: empty_cache)
    usage = build.shutil.disk_usage(empty_cache)
    monkeypatch.setattr(build.shutil, "disk_usage", lambda _folder: usage._replace(free=1000))
    finding = guest_kernel.guest_kernel()
    assert "cannot be built yet" in finding.detail
    assert "free" in finding.detail
    assert "XDG_CACHE_HOME" in (finding.fix or "")


def test_a_kernel_that_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "linux"
    fake.write_text("#!/bin/sh\necho cannot run here >&2; exit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("TESTBED_KERNEL", str(fake))
    finding = guest_kernel.guest_kernel()
    assert finding.state is State.MISSING
    assert "cannot run here" in finding.detail


def test_a_kernel_that_panics_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a version, so only a boot shows it."""
    fake = tmp_path / "linux"
    fake.write_text('#!/bin/sh\n[ "$1" = --version ] && echo 6.1 && exit 0\necho Kernel panic >&2\nexit 1\n')
    fake.chmod(0o755)
    monkeypatch.setenv("TESTBED_KERNEL", str(fake))
    assert guest_kernel.guest_kernel().ok
    finding = guest_boot.guest_boot()
    assert finding.state is State.MISSING
    assert finding.wanted_by == ("guest",)
    root = Finding("root", State.OK, "plain user")
    assert choose([root, finding]).engine is None


def test_without_a_kernel_no_boot_is_tried(empty_cache: Path) -> None:
    assert guest_boot.guest_boot().state is State.NOTE


# ---- resources --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ("no such thing", None),
    ],
)
def test_java_major(text: str, major: int | None) -> None:
    assert resources.java_major(text) == major


def test_an_old_java_is_not_enough(commands: FakeCommands) -> None:
    commands.add("java", "echo 'openjdk version \"11.0.2\"' >&2")
    finding = resources.java()
    assert (finding.state, finding.detail) == (State.MISSING, "Java 11, Spark 4 needs 17")
    assert finding.fix is not None
    assert "openjdk-17-jre-headless" in finding.fix


def test_no_java_is_said(commands: FakeCommands) -> None:
    assert "no Java" in resources.java().detail


def test_missing_commands_are_named_with_their_packages(commands: FakeCommands) -> None:
    for name in resources.COMMANDS:
        if name not in ("tcpdump", "ovs-vsctl"):
            commands.add(name, "exit 0")
    finding = resources.commands(str(commands.folder))
    assert finding.detail == "not found: tcpdump, ovs-vsctl"
    assert finding.fix == "sudo apt-get install -y --no-install-recommends openvswitch-switch tcpdump"


def test_every_package_the_doctor_names_is_one_that_setup_installs(repository: Path) -> None:
    lines = (repository / "scripts/debian-packages.txt").read_text().splitlines()
    listed = {line.split("#")[0].strip() for line in lines}
    assert set(resources.COMMANDS.values()) | {"openjdk-17-jre-headless"} <= listed


def test_little_memory(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 4000000 kB\nMemAvailable:  500000 kB\n")
    assert resources.memory(meminfo).state is State.MISSING
    meminfo.write_text("MemTotal: 4000000 kB\nMemAvailable: 3000000 kB\n")
    assert resources.memory(meminfo).state is State.OK


def test_disk_looks_at_the_nearest_folder_that_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = resources.shutil.disk_usage(tmp_path)
    asked: list[Path] = []

    def full(folder: Path) -> object:
        asked.append(folder)
        return usage._replace(free=5)

    monkeypatch.setattr(resources.shutil, "disk_usage", full)
    assert resources.disk(tmp_path / "not" / "yet").state is State.MISSING
    assert asked == [tmp_path]


def record(run: Path, boot: str, namespaces: list[str], pid: int = 0, started: int = 0) -> None:
    run.mkdir(parents=True)
    processes = [{"what": "broker b1", "pid": pid, "started": started}] if pid else []
    document = {"boot": boot, "namespaces": namespaces, "processes": processes, "interfaces": ["b1-eth0"]}
    (run / "created.json").write_text(json.dumps(document))


def test_no_record_no_leftovers(tmp_path: Path) -> None:
    assert leftovers.leftovers(tmp_path).state is State.OK


def test_a_namespace_of_a_run_that_still_exists_is_a_leftover(tmp_path: Path) -> None:
    space = tmp_path / "namespace"
    space.touch()
    run = tmp_path / "results" / "quickstart" / "run-1"
    record(run, boot_id(), [str(space), str(tmp_path / "gone")])
    finding = leftovers.leftovers(tmp_path / "results")
    assert finding.state is State.MISSING
    assert "1 namespaces" in finding.detail
    assert finding.fix == f"testbed clean {run}"
    assert finding.wanted_by == ()


def test_a_process_of_a_run_that_still_lives_is_a_leftover(tmp_path: Path) -> None:
    own_start = start_time(os.getpid()) or 0
    record(tmp_path / "quickstart" / "run-1", boot_id(), [], os.getpid(), own_start)
    record(tmp_path / "quickstart" / "run-2", boot_id(), [], os.getpid(), own_start - 1)
    finding = leftovers.leftovers(tmp_path)
    assert "run-1: 1 processes" in finding.detail
    assert "run-2" not in finding.detail


def test_what_another_boot_recorded_is_gone(tmp_path: Path) -> None:
    record(tmp_path / "quickstart" / "run-1", "another boot", [str(tmp_path)])
    assert leftovers.leftovers(tmp_path).state is State.OK


# ---- the choice of engine ---------------------------------------------------------------------------------


def machine(**missing: bool) -> list[Finding]:
    """A machine that has everything except what is named."""
    wanted = {"root": "host", "netem": "host", "openvswitch": "host", "guest_kernel": "guest"}
    return [
        Finding(
            name,
            State.MISSING if missing.get(name) else State.OK,
            "detail",
            f"repair {name}" if missing.get(name) else None,
            (engine,) if missing.get(name) else (),
        )
        for name, engine in wanted.items()
    ]


def test_auto_takes_the_host_where_it_can() -> None:
    assert choose(machine()).engine == "host"
    assert choose(machine(guest_kernel=True)).engine == "host"


@pytest.mark.parametrize("lacking", ["root", "netem", "openvswitch"])
def test_auto_takes_the_guest_where_the_host_lacks_anything(lacking: str) -> None:
    choice = choose(machine(**{lacking: True}))
    assert choice.engine == "guest"
    assert lacking in choice.reason


def test_auto_never_takes_an_engine_that_shapes_no_links() -> None:
    choice = choose(machine(netem=True, guest_kernel=True))
    assert choice.engine is None
    with pytest.raises(TestbedError) as raised:
        chosen(choice)
    assert (raised.value.hint or "").startswith("repair guest_kernel")


def test_a_plain_user_gets_the_guest_even_where_netem_works() -> None:
    user = Finding("root", State.NOTE, "plain user: ...")
    choice = choose([user, *(finding for finding in machine() if finding.name != "root")])
    assert (choice.engine, "no root" in choice.reason) == ("guest", True)


def test_chosen_gives_engine_and_reason() -> None:
    assert chosen(Choice("host", "all works")) == ("host", "all works")


# ---- the report -------------------------------------------------------------------------------------------


def broken() -> Finding:
    raise RuntimeError("probe fell over")


def healthy() -> Finding:
    return Finding("healthy", State.OK, "well")


def test_one_broken_probe_does_not_hide_the_others() -> None:
    first, second = examination.examine([broken, healthy])
    assert (first.state, "probe fell over" in first.detail) == (State.MISSING, True)
    assert second.state is State.OK


def test_json_report_of_this_machine() -> None:
    shown = CliRunner().invoke(command, ["--json"], standalone_mode=False)
    report = json.loads(shown.output)
    assert report["engine"] in ("host", "guest", None)
    assert shown.return_value == (0 if report["engine"] else 1)
    names = [finding["name"] for finding in report["findings"]]
    assert len(names) == len(set(names)) == len(examination.ENGINE_PROBES + examination.OTHER_PROBES)
    for finding in report["findings"]:
        assert finding["state"] in ("ok", "missing", "note")
        assert finding["detail"]
        assert (finding["state"] == "missing") == bool(finding["fix"])


def test_text_report_shows_each_fix_on_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    long_fix = "sudo apt-get install -y " + " ".join(f"package-{number}" for number in range(30))
    finding = Finding("thing", State.MISSING, "not [there]", long_fix, ("guest",))
    monkeypatch.setattr(examination, "examine", lambda: [finding])
    shown = CliRunner().invoke(command, [], standalone_mode=False)
    assert f"    {long_fix}\n" in shown.output
    assert "not [there]" in shown.output
    assert "engine auto: " in shown.output
