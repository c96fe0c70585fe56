"""The guest as a user meets it: commands, output, exit codes, time, terminals, ends of every kind."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.emulation.guest.api import Guest, GuestDied, GuestProcess, GuestSpec, attach
from testbed.emulation.kernel import KernelMissing, require
from testbed.emulation.kernel.cache import Kernel

pytestmark = pytest.mark.guest

MEMORY_MB = 768
PATIENCE = 300.0
REPOSITORY = Path(__file__).parents[2]

# A harness of its own process: says where its guest is, then waits for ever.
HARNESS = """
import sys, time
from pathlib import Path
from testbed.emulation.guest.api import Guest, GuestSpec
from testbed.emulation.kernel import require
guest = Guest(GuestSpec(kernel=require(), memory_mb=768, shared=(Path(sys.argv[1]),)))
script = "trap 'echo saved > " + sys.argv[1] + "/saved; exit' TERM; echo up; sleep 1000000 & wait"
lines = guest.start(["sh", "-c", script]).lines()
assert next(lines) == "up"
print(guest.control.path, flush=True)
for line in lines: pass
"""

TWO_HOSTS = """
set -e
for n in a b; do ip netns add $n; done
ip link add eth0 netns a type veth peer name eth0 netns b
ip -n a addr add 10.0.0.1/24 dev eth0; ip -n b addr add 10.0.0.2/24 dev eth0
for n in a b; do ip -n $n link set eth0 up; tc -n $n qdisc add dev eth0 root netem delay 50ms limit 1000; done
ip netns exec a ping -q -c 1 10.0.0.2 > /dev/null
ip netns exec a ping -c 5 -i 0.3 10.0.0.2
"""


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    try:
        return require()
    except KernelMissing as error:
        pytest.skip(f"{error} ({error.hint})")


@pytest.fixture(scope="module")
def guest(kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    shared = tmp_path_factory.mktemp("shared")
    environment = {**os.environ, "GREETING": "good morning", "SHARED": str(shared), "PS1": "PROMPT> "}
    spec = GuestSpec(kernel=kernel, memory_mb=MEMORY_MB, env=environment, cwd=REPOSITORY, shared=(shared,))
    with Guest(spec) as booted:
        yield booted


def screen_until(process: GuestProcess, mark: bytes) -> bytes:
    """What the terminal shows up to the mark."""
    seen, deadline = b"", time.monotonic() + PATIENCE
    while mark not in seen:
        process.poll(0.05)
        seen += process.take_terminal_output()
        assert time.monotonic() < deadline, f"{mark!r} never came: {seen!r}"
    return seen


def alive(pid: int) -> bool:
    """Whether the process runs (one that is dead but not yet collected by its parent does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until_gone(pids: list[int]) -> None:
    deadline = time.monotonic() + PATIENCE
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline, f"still running: {[pid for pid in pids if alive(pid)]}"
        time.sleep(0.05)


def wait_until_frozen(pid: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        assert time.monotonic() < deadline, "the guest goes on running"
        time.sleep(0.05)


def members_of_group(group: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            found.append(int(stat.parent.name))
    return found


class TestCommands:
    def test_exit_code_streams_environment_and_folder_are_the_commands_own(self, guest: Guest) -> None:
        script = "echo $GREETING; pwd; id -u; echo oops >&2; exit 42"
        done = guest.run(["sh", "-c", script], timeout=PATIENCE)
        assert done.code == 42
        assert done.text.splitlines() == ["good morning", str(REPOSITORY), "0"]
        assert done.err == b"oops\n"

    @pytest.mark.parametrize(
        ("argv", "code"),
        [(["true"], 0), (["false"], 1), (["sh", "-c", "exit 255"], 255), (["sh", "-c", "kill -9 $$"], 137)],
    )
    def test_exit_code_is_exact(self, guest: Guest, argv: list[str], code: int) -> None:
        assert guest.run(argv, timeout=PATIENCE).code == code

    def test_a_missing_command_is_127_and_named(self, guest: Guest) -> None:
        done = guest.run(["no-such-command"], timeout=PATIENCE)
        assert done.code == 127
        assert b"no-such-command" in done.err

    def test_input_is_given_whole(self, guest: Guest) -> None:
        assert guest.run(["wc", "-c"], stdin=b"x" * 300_000, timeout=PATIENCE).out.strip() == b"300000"

    def test_lines_come_while_the_command_runs(self, guest: Guest) -> None:
        process = guest.start(["sh", "-c", "trap 'echo bye; exit 5' TERM; echo up; sleep 100000000 & wait"])
        lines = process.lines(PATIENCE)
        assert next(lines) == "up"
        process.signal(signal.SIGTERM)
        assert list(lines) == ["bye"]
        assert process.wait(PATIENCE) == 5

    def test_the_same_python_environment_runs_inside(self, guest: Guest) -> None:
        script = "import sys, msgspec, testbed; print(sys.executable)"
        assert guest.run([sys.executable, "-c", script], timeout=PATIENCE).text.strip() == sys.executable


class TestFiles:
    def test_temporary_files_are_the_guests_own(self, guest: Guest, tmp_path: Path) -> None:
        mark = Path("/tmp") / f"guest-test-{os.getpid()}"
        assert guest.run(["touch", str(mark), f"/run/{mark.name}"], timeout=PATIENCE).code == 0
        assert not mark.exists()

    def test_shared_folders_are_the_hosts(self, guest: Guest) -> None:
        shared = Path(guest.env["SHARED"])
        (shared / "from-host").write_text("over")
        script = "cat $SHARED/from-host; echo and out > $SHARED/from-guest"
        assert guest.run(["sh", "-c", script], timeout=PATIENCE).out == b"over"
        assert (shared / "from-guest").read_text() == "and out\n"


class TestTime:
    def test_sleeping_costs_no_real_time(self, guest: Guest) -> None:
        script = "import time; a = time.monotonic(); time.sleep(5000); print(time.monotonic() - a)"
        started = time.monotonic()
        slept = float(guest.run([sys.executable, "-S", "-c", script], timeout=PATIENCE).text)
        assert 5000 <= slept < 5000.001
        assert time.monotonic() - started < 2500  # half of it, on the busiest machine

    def test_the_clock_stands_between_commands(self, guest: Guest) -> None:
        before = guest.run(["cat", "/proc/uptime"], timeout=PATIENCE).text.split()[0]
        time.sleep(1.5)
        assert guest.run(["cat", "/proc/uptime"], timeout=PATIENCE).text.split()[0] == before

    def test_link_delay_is_exact(self, guest: Guest) -> None:
        done = guest.run(["sh", "-c", TWO_HOSTS], timeout=PATIENCE)
        assert done.code == 0, done.err
        (least, most) = re.findall(r"= ([\d.]+)/[\d.]+/([\d.]+)/", done.text)[0]
        assert 100.0 <= float(least) <= float(most) < 100.05


class TestTerminal:
    def test_a_shell_can_be_talked_to(self, guest: Guest) -> None:
        shell = guest.start(["sh", "-i"], terminal=(31, 101))
        screen_until(shell, b"PROMPT> ")
        shell.write(b"stty size\n")
        assert b"31 101\r\n" in screen_until(shell, b"PROMPT> ")
        shell.resize(40, 90)
        # One job: between two commands of the shell's own a Ctrl-C would reach nobody.
        shell.write(b"sh -c 'stty size; exec sleep 1000000'\n")
        assert b"40 90\r\n" in screen_until(shell, b"40 90\r\n")
        shell.write(b"\x03")
        screen_until(shell, b"PROMPT> ")
        shell.write(b"exit 9\n")
        assert shell.wait(PATIENCE) == 9


class TestEnds:
    def test_a_killed_harness_leaves_nothing_running_and_loses_nothing(
        self, kernel: Kernel, tmp_path: Path
    ) -> None:
        harness = subprocess.Popen(
            [sys.executable, "-c", HARNESS, str(tmp_path)], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
        )
        assert harness.stdout is not None
        control = Path(harness.stdout.readline().strip())
        state = json.loads((control / "state.json").read_text())
        members = members_of_group(state["guest"])
        assert len(members) > 1, "the guest's processes are in its group"
        harness.kill()
        harness.wait()
        wait_until_gone([state["keeper"], *members])
        assert (tmp_path / "saved").read_text() == "saved\n", "the command was asked to end first"
        assert not control.exists()

    def test_a_killed_keeper_takes_the_guest_with_it(self, kernel: Kernel) -> None:
        with Guest(GuestSpec(kernel=kernel, memory_mb=MEMORY_MB)) as guest:
            process = guest.start(["sh", "-c", "echo up; sleep 1000000000 & wait"])
            assert next(process.lines(PATIENCE)) == "up"
            state = json.loads(guest.control.state.read_text())
            members = members_of_group(state["guest"])
            os.kill(state["keeper"], signal.SIGKILL)
            wait_until_gone(members)
            with pytest.raises(GuestDied):
                process.wait(PATIENCE)

    def test_a_panic_is_told_with_the_consoles_last_lines(self, kernel: Kernel) -> None:
        settings = "cd /proc/sys/vm; echo 2 > panic_on_oom; echo 1 > overcommit_memory; "
        eat = settings + "exec python3 -S -c 'x = b\"x\" * (600 << 20)'"
        with Guest(GuestSpec(kernel=kernel, memory_mb=256)) as guest:
            with pytest.raises(GuestDied, match="Kernel panic") as told:
                guest.run(["sh", "-c", eat], timeout=PATIENCE)
            assert "memory" in (told.value.hint or "")

    def test_two_guests_run_side_by_side(self, kernel: Kernel) -> None:
        spec = GuestSpec(kernel=kernel, memory_mb=MEMORY_MB)
        with Guest(spec) as one, Guest(spec) as two:
            first = one.start(["sh", "-c", "hostname; sleep 3600; echo one"])
            second = two.start(["sh", "-c", "hostname; sleep 7200; echo two"])
            assert second.finish(PATIENCE).out == b"guest\ntwo\n"
            assert first.finish(PATIENCE).out == b"guest\none\n"

    def test_a_detached_guest_waits_frozen_and_can_be_attached(self, kernel: Kernel) -> None:
        guest = Guest(GuestSpec(kernel=kernel, memory_mb=MEMORY_MB))
        assert guest.run(["sh", "-c", "touch /run/kept; sleep 100000000 &"], timeout=PATIENCE).code == 0
        control = guest.detach()
        assert guest.connection is not None
        guest.connection.close()
        pid = json.loads(control.state.read_text())["guest"]
        wait_until_frozen(pid)
        with attach(control.path) as again:
            assert again.run(["ls", "/run/kept"], timeout=PATIENCE).code == 0
        assert alive(pid), "leaving it leaves it running"
        with attach(control.path) as again:
            again.stop()
        wait_until_gone([pid])
        assert not control.path.exists()
        with pytest.raises(GuestDied), attach(control.path):
            pass


UNPRIVILEGED = """
import os, sys
from pathlib import Path
from testbed.emulation.guest.api import Guest, GuestSpec
from testbed.emulation.kernel import require
home = Path(sys.argv[1])
with Guest(GuestSpec(kernel=require(), memory_mb=768, cwd=home, shared=(home,))) as guest:
    done = guest.run(["sh", "-c", "id -u && ip netns add a && echo mine > made && ! touch /etc/not-mine"])
print(os.getuid(), done.code, done.text)
"""
NOBODY = 65534


class TestRights:
    @pytest.mark.skipif(os.getuid() != 0, reason="every other test here has shown it already")
    def test_no_root_is_needed(self, kernel: Kernel) -> None:
        python = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
        if not os.access(python, os.X_OK):
            pytest.skip(f"{python} is not there: no interpreter that any user may run")
        with tempfile.TemporaryDirectory() as name:
            home = Path(name)
            shutil.copy(kernel.binary, home / "linux")
            os.chown(home, NOBODY, NOBODY)
            packages = next(path for path in sys.path if path.endswith("site-packages"))
            environment = {
                "PATH": os.environ["PATH"],
                "HOME": name,
                "PYTHONPATH": f"{REPOSITORY}:{packages}",
                "TESTBED_KERNEL": f"{name}/linux",
            }
            drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            done = subprocess.run(
                [*drop, python, "-c", UNPRIVILEGED, name], env=environment, capture_output=True, text=True
            )
            assert done.stdout.split() == [str(NOBODY), "0", "0"], done.stderr
            assert (home / "made").stat().st_uid == NOBODY


class TestRepeatable:
    def test_two_boots_do_exactly_the_same(self, kernel: Kernel) -> None:
        script = "od -An -N16 -tx1 /dev/urandom; cat /proc/uptime; date +%s.%N; cat /proc/self/maps | md5sum"
        results = []
        for _ in range(2):
            with Guest(GuestSpec(kernel=kernel, memory_mb=MEMORY_MB, seed=7)) as guest:
                results.append(guest.run(["sh", "-c", script], timeout=PATIENCE).out)
        assert results[0] == results[1]

    def test_another_seed_gives_other_random_numbers(self, kernel: Kernel, guest: Guest) -> None:
        with Guest(GuestSpec(kernel=kernel, memory_mb=MEMORY_MB, seed=8)) as other:
            mine = other.run(["od", "-An", "-N16", "-tx1", "/dev/urandom"], timeout=PATIENCE).out
        assert mine != guest.run(["od", "-An", "-N16", "-tx1", "/dev/urandom"], timeout=PATIENCE).out
