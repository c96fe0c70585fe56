"""The guest kernel's source, recipe, cache and build, without compiling one."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from testbed.cli import kernel as kernel_cli
from testbed.emulation.kernel import build, cache, recipe, source
from testbed.emulation.kernel.build import BuildFailed, CompileProgress, Progress
from testbed.emulation.kernel.cache import KernelMissing, KernelRecord
from testbed.emulation.kernel.folders import SHARED_VARIABLE, source_folder
from testbed.errors import TestbedError

CONTENT = b"#!/bin/sh\necho pretend kernel\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(cache.KERNEL_VARIABLE, raising=False)
    monkeypatch.delenv(source.SOURCE_VARIABLE, raising=False)
    monkeypatch.setenv(SHARED_VARIABLE, str(tmp_path / "shared"))
    return cache.cache_folder()


def stored(folder: Path, key: str = "6.1-abc", version: str = "6.1", **changes: object) -> Path:
    """A kernel in the cache, as a build leaves it."""
    place = folder / key
    place.mkdir(parents=True)
    binary = place / "linux"
    binary.write_bytes(CONTENT)
    binary.chmod(0o755)
    record = KernelRecord(
        key=key, recipe=recipe.recipe_key(), source="linux-source-6.1.tar.xz", version=version,
        sha256=cache.sha256(binary), size=len(CONTENT), build_seconds=200.0,
    )  # fmt: skip
    record = msgspec.structs.replace(record, **changes)
    (place / "kernel.json").write_bytes(msgspec.json.encode(record))
    return binary


def archive(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"archive")
    return path


class TestSource:
    def test_the_newest_version_is_taken_by_number_not_by_text(self, tmp_path: Path) -> None:
        for version in ("6.1", "6.12", "5.10"):
            archive(tmp_path, f"linux-source-{version}.tar.xz")
        assert source.choose(folder=tmp_path).version == (6, 12)

    def test_ubuntus_place_is_known(self, tmp_path: Path) -> None:
        path = archive(tmp_path, "linux-source-6.8.0/linux-source-6.8.0.tar.bz2")
        assert source.choose(folder=tmp_path) == source.Source(path, (6, 8, 0))

    def test_without_one_the_packages_are_named(self, tmp_path: Path) -> None:
        with pytest.raises(source.SourceMissing) as told:
            source.choose(folder=tmp_path)
        assert "apt install linux-source" in (told.value.hint or "")

    def test_the_environment_names_one(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = archive(tmp_path, "elsewhere/linux-source-6.6.tar.gz")
        monkeypatch.setenv(source.SOURCE_VARIABLE, str(path))
        assert source.choose().archive == path

    @pytest.mark.parametrize("name", ["linux-6.1.tar.xz", "notes.txt"])
    def test_a_foreign_file_is_refused(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(source.SourceMissing, match="no kernel source archive"):
            source.choose(archive(tmp_path, name))


class TestRecipe:
    def test_the_key_changes_with_the_source_and_with_the_configuration(self, tmp_path: Path) -> None:
        one = source.read(archive(tmp_path, "linux-source-6.1.tar.xz"))
        key = recipe.build_key(one)
        assert key.startswith("6.1-")
        os.utime(one.archive, (1, 1))
        assert recipe.build_key(one) != key
        changed = tmp_path / "fragment.config"
        changed.write_text(recipe.FRAGMENT.read_text() + "CONFIG_MAGIC_SYSRQ=y\n")
        assert recipe.recipe_key(changed) != recipe.recipe_key()

    @pytest.mark.parametrize(
        "option",
        [
            "UML_TIME_TRAVEL_SUPPORT", "HOSTFS", "VETH", "TUN", "BRIDGE", "IFB", "NF_CONNTRACK",
            "OPENVSWITCH", "NET_SCH_NETEM", "NET_SCH_HTB", "NET_SCH_TBF", "NET_SCH_INGRESS",
            "NET_CLS_U32", "NET_CLS_FLOWER", "NET_CLS_MATCHALL", "NET_ACT_MIRRED", "PACKET",
            "NET_NS", "PID_NS", "UTS_NS", "IPC_NS", "USER_NS", "CGROUP_SCHED", "TMPFS",
            "DEVTMPFS_MOUNT", "HIGH_RES_TIMERS", "SYSVIPC", "POSIX_MQUEUE", "SECCOMP", "OVERLAY_FS",
            "INOTIFY_USER", "UNIX98_PTYS", "FUTEX", "EPOLL",
        ],
    )  # fmt: skip
    def test_what_the_testbed_needs_is_asked_for(self, option: str) -> None:
        assert f"CONFIG_{option}=y\n" in recipe.FRAGMENT.read_text()

    def test_a_series_own_patches_come_after_the_common_ones(self, tmp_path: Path) -> None:
        of_61 = recipe.patches(source.read(archive(tmp_path, "linux-source-6.1.tar.xz")))
        of_other = recipe.patches(source.read(archive(tmp_path, "linux-source-99.9.tar.xz")))
        assert of_61[: len(of_other)] == of_other
        assert any("exit-kill" in path.name for path in of_61)


class TestCache:
    def test_an_empty_cache_says_how_to_fill_it(self) -> None:
        with pytest.raises(KernelMissing, match="no guest kernel is built") as told:
            cache.require()
        assert "testbed kernel build" in (told.value.hint or "")

    def test_the_newest_current_kernel_is_taken(self, own_cache: Path) -> None:
        stored(own_cache, "6.1-a", "6.1")
        newest = stored(own_cache, "6.12-b", "6.12")
        stored(own_cache, "7.0-c", "7.0", recipe="of yesterday")
        assert cache.require().binary == newest

    def test_an_older_recipe_is_not_taken(self, own_cache: Path) -> None:
        stored(own_cache, recipe="of yesterday")
        with pytest.raises(KernelMissing, match="older recipe"):
            cache.require()

    def test_a_damaged_binary_is_refused(self, own_cache: Path) -> None:
        binary = stored(own_cache)
        binary.write_bytes(CONTENT + b"x")
        with pytest.raises(KernelMissing, match="damaged"):
            cache.require()

    def test_a_torn_record_is_no_kernel(self, own_cache: Path) -> None:
        binary = stored(own_cache)
        (binary.parent / "kernel.json").write_text('{"key": "6.1')
        assert cache.built() == []

    def test_an_interrupted_build_is_no_kernel(self, own_cache: Path) -> None:
        stored(own_cache, "6.1-a" + cache.BUILDING)
        assert cache.built() == []

    def test_the_environment_names_a_kernel(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        binary = tmp_path / "my-linux"
        binary.write_bytes(b"... time-travel=inf-cpu ...")
        monkeypatch.setenv(cache.KERNEL_VARIABLE, str(binary))
        with pytest.raises(KernelMissing, match="executable"):
            cache.require()
        binary.chmod(0o755)
        assert cache.require().virtual_time
        binary.write_bytes(b"...")
        assert not cache.require().virtual_time


class TestShared:
    def test_a_kernel_of_all_users_is_taken_before_ones_own(self, own_cache: Path, tmp_path: Path) -> None:
        stored(own_cache)
        stored(tmp_path / "shared", key="6.1-shared")
        assert cache.require().binary == tmp_path / "shared" / "6.1-shared" / "linux"

    def test_a_damaged_one_is_passed_over(self, own_cache: Path, tmp_path: Path) -> None:
        stored(own_cache)
        stored(tmp_path / "shared", key="6.1-shared").write_bytes(b"torn")
        assert cache.require().binary.is_relative_to(own_cache)

    @pytest.mark.parametrize("writable", ["6.1-shared/linux", "6.1-shared", ""])
    def test_one_that_others_can_change_is_not_run(
        self, own_cache: Path, tmp_path: Path, writable: str
    ) -> None:
        stored(tmp_path / "shared", key="6.1-shared")
        assert cache.shared()
        (tmp_path / "shared" / writable).chmod(0o777)
        assert cache.shared() == []

    def test_install_makes_it_readable_for_everybody_and_is_idempotent(
        self, own_cache: Path, tmp_path: Path
    ) -> None:
        binary = stored(own_cache)
        binary.chmod(0o700)
        runner = CliRunner()
        for _ in range(2):
            assert runner.invoke(kernel_cli.command, ["install", "--shared"]).exit_code == 0
        installed = cache.require().binary
        assert installed.is_relative_to(tmp_path / "shared")
        assert installed.stat().st_mode & 0o777 == 0o755
        assert [path.name for path in (tmp_path / "shared").iterdir()] == [installed.parent.name]

    def test_without_the_right_to_write_the_command_for_root_is_named(
        self, own_cache: Path, tmp_path: Path
    ) -> None:
        stored(own_cache)
        (tmp_path / "shared").write_text("a file is in the way")
        with pytest.raises(TestbedError) as caught:
            cache.install_shared()
        assert "sudo env XDG_CACHE_HOME=" in str(caught.value.hint)


class TestBuild:
    def test_a_stored_kernel_is_not_built_again(self, own_cache: Path, tmp_path: Path) -> None:
        chosen = source.read(archive(tmp_path, "linux-source-6.1.tar.xz"))
        binary = stored(own_cache, recipe.build_key(chosen))
        said: list[Progress] = []
        assert build.build(chosen, said.append).binary == binary
        assert said == [Progress("already built", 100)]

    def test_a_full_disk_is_told_before_anything_is_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(build, "_check_tools", lambda: None)
        usage = shutil.disk_usage(tmp_path)._replace(free=10**8)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
        chosen = source.read(archive(tmp_path, "linux-source-6.1.tar.xz"))
        with pytest.raises(BuildFailed, match=r"needs 2\.1 GB of free space.*0\.1 GB are free") as told:
            build.build(chosen, lambda progress: None)
        assert "XDG_CACHE_HOME" in (told.value.hint or "")

    def test_missing_tools_are_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        tools = tmp_path / "bin"
        tools.mkdir()
        for name in set(build.TOOLS) - {"flex", "bc"}:
            (tools / name).symlink_to("/bin/true")
        monkeypatch.setenv("PATH", str(tools))
        chosen = source.read(archive(tmp_path, "linux-source-6.1.tar.xz"))
        with pytest.raises(BuildFailed, match="flex, bc"):
            build.build(chosen, lambda progress: None)

    def test_a_broken_archive_fails_with_the_last_lines_and_leaves_no_kernel(self, tmp_path: Path) -> None:
        chosen = source.read(archive(tmp_path, "linux-source-6.1.tar.xz"))
        with pytest.raises(BuildFailed, match="tar"):
            build.build(chosen, lambda progress: None)
        assert cache.built() == []

    def test_progress_never_goes_back_and_never_passes_the_end(self) -> None:
        progress = CompileProgress()
        seen = [progress.step().percent for _ in range(3 * CompileProgress.EXPECTED_STEPS)]
        assert seen == sorted(seen)
        assert seen[-1] < 100
        assert CompileProgress(already=500).now().percent > CompileProgress().now().percent

    def test_a_whole_build_of_a_small_source(self, own_cache: Path, tmp_path: Path) -> None:
        """Extract, configure, compile, strip, install: with a source whose makefile compiles one file."""
        chosen = source.read(small_source(tmp_path))
        said: list[Progress] = []
        kernel = build.build(chosen, said.append, jobs=1)
        assert kernel == cache.require()
        assert kernel.binary.stat().st_mode & stat.S_IXUSR
        assert [path.name for path in sorted(kernel.binary.parent.iterdir())] == [
            "config",
            "kernel.json",
            "linux",
        ]
        assert [path for path in own_cache.iterdir() if path != kernel.binary.parent] == []
        assert said[-1].percent == 100
        assert [step.percent for step in said] == sorted(step.percent for step in said)

    def test_what_builds_leave_is_removed_but_not_another_build_that_goes_on(
        self, own_cache: Path, tmp_path: Path
    ) -> None:
        given_up, going_on = (own_cache / f"6.1-{name}{cache.BUILDING}" for name in ("old", "other"))
        for tree in (given_up, going_on):
            (tree / "tree").mkdir(parents=True)
        fetched = source_folder() / small_source(tmp_path).name
        fetched.parent.mkdir()
        shutil.move(tmp_path / fetched.name, fetched)
        with build._only_builder(going_on):
            kernel = build.build(None, lambda progress: None, jobs=1)
        assert not fetched.exists()
        assert not given_up.exists()
        assert going_on.exists()
        assert build.build(None, lambda progress: None) == kernel  # the fetched source is not wanted again

    def test_a_second_builder_is_refused(self, tmp_path: Path, own_cache: Path) -> None:
        chosen = source.read(small_source(tmp_path))
        folder = own_cache / (recipe.build_key(chosen) + cache.BUILDING)
        folder.mkdir(parents=True)
        with build._only_builder(folder), pytest.raises(BuildFailed, match="another process"):
            build.build(chosen, lambda progress: None)


def small_source(folder: Path) -> Path:
    """An archive with the few files that a build touches."""
    tree = folder / "linux-source-99.9"
    patched = tree / "arch/um/os-Linux/util.c"
    patched.parent.mkdir(parents=True)
    patched.write_text(unpatched_file())
    (tree / "main.c").write_text("int main(void) { return 0; }\n")
    (tree / "Makefile").write_text(
        "allnoconfig:\n\tcp $(KCONFIG_ALLCONFIG) .config\n"
        "linux: main.c\n\t@echo '  CC      main.o'\n\tgcc -o linux main.c\n"
    )
    path = folder / "linux-source-99.9.tar.gz"
    shutil.make_archive(str(folder / "linux-source-99.9"), "gztar", folder, tree.name)
    return path


def unpatched_file() -> str:
    """What the common patch expects to find: its own context and removed lines."""
    text = (recipe.PATCHES / "0001-no-host-random.patch").read_text()
    hunk = text.split("\n@@ ")[1]
    return "\n".join(line[1:] for line in hunk.splitlines()[1:] if line[:1] in " -") + "\n"


class TestCommand:
    def test_status_verifies_and_clean_removes(self, own_cache: Path) -> None:
        stored(own_cache)
        runner = CliRunner()
        shown = runner.invoke(kernel_cli.command, ["status"])
        assert shown.exit_code == 0
        assert "checksum verified" in shown.output
        assert "Linux 6.1" in shown.output
        assert runner.invoke(kernel_cli.command, ["clean"]).exit_code == 0
        assert not own_cache.exists()
        assert isinstance(runner.invoke(kernel_cli.command, ["status"]).exception, KernelMissing)

    def test_build_off_a_terminal_prints_plain_lines(self, tmp_path: Path) -> None:
        path = small_source(tmp_path)
        shown = CliRunner().invoke(kernel_cli.command, ["build", "--source", str(path)])
        assert shown.exit_code == 0, shown.output
        assert "kernel 99.9: compiling" in shown.output
        assert "sha256" in shown.output
