"""The run folders of one analysis, as far as the driver needs to know them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from protos.records import CaptureFile, Catalogue, Fidelity, LogEvent, Manifest
from testbed.analysis.wire.capture_file import Capture
from testbed.analysis.wire.envelope import KnownMessages
from testbed.errors import InputError
from testbed.run.fidelity import broken_lines
from testbed.run.folder import RunFolder
from testbed.topology.plan import Plan

if TYPE_CHECKING:
    from testbed.analysis.evidence.routes import Routes

PLAN_VERSION = 1  # newest plan.json this code understands
PROVENANCE = ("run", "name", "engine", "clock", "seed")


@dataclass(frozen=True)
class Run:
    """`key` tells the runs of this analysis apart; it is the run's id unless two folders share one."""

    key: str
    folder: RunFolder
    plan: Plan
    manifest: Manifest
    warnings: list[str] = field(default_factory=list)

    @property
    def provenance(self) -> dict[str, str | int]:
        m = self.manifest
        return {
            "run": self.key,
            "name": m.name or self.plan.name,
            "engine": m.engine,
            "clock": m.clock,
            "seed": m.seed,
        }

    @cached_property
    def routes(self) -> Routes:
        from testbed.analysis.evidence.routes import (
            Routes,  # imports NumPy, which the start need not wait for
        )

        return Routes(self.plan)

    @cached_property
    def hosts(self) -> dict[str, str]:
        """Broker or client -> network node."""
        brokers = {broker.id: broker.node for broker in self.plan.brokers}
        return brokers | {client.id: client.node for client in self.plan.clients}

    @cached_property
    def brokers(self) -> set[str]:
        return {broker.id for broker in self.plan.brokers}

    @cached_property
    def endpoints(self) -> dict[str, str]:
        """address:port -> broker."""
        return {f"{broker.address}:{broker.port}": broker.id for broker in self.plan.brokers}

    @cached_property
    def catalogue(self) -> Catalogue:
        return self.folder.read_catalogue()

    @cached_property
    def _known(self) -> KnownMessages:
        return KnownMessages.of(self.catalogue)

    @cached_property
    def purposes(self) -> dict[str, str]:
        """Message type -> what it is for."""
        return {message.name: message.purpose for message in self.catalogue.messages}

    @cached_property
    def counted(self) -> frozenset[str]:
        """Types of messages that the brokers' logs count."""
        return frozenset(self.plan.log_detail.counted)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Of log records."""
        return frozenset(kind.name for kind in self.catalogue.kinds)

    def files(self, folder: Path, pattern: str = "*.jsonl") -> list[Path]:
        """Those that are files: a broken link or one that leads to itself is none, and a check misses it."""
        return sorted(path for path in folder.glob(pattern) if path.is_file())

    @cached_property
    def broken_probes(self) -> list[str]:
        """file:line of every probe that cannot be read; a torn last line is what a crash leaves."""
        return [f"probes/{place}" for place in broken_lines(self.folder.probes)]

    @property
    def broken_fidelity(self) -> list[str]:
        try:
            self.folder.read_fidelity()
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return [f"fidelity.json ({error})"]
        return []

    @property
    def fidelity(self) -> Fidelity | None:
        try:
            return self.folder.read_fidelity()
        except msgspec.MsgspecError:
            return None

    @cached_property
    def captures(self) -> list[Capture]:
        """Every capture file of the folder, whether the manifest names it or not."""
        listed = {Path(c.file).name: c for c in self.manifest.captures}
        files = self.files(self.folder.pcap, "*.pcap") + self.files(self.folder.pcap, "*.pcapng")
        nodes = {path: self._captured_node(path, listed) for path in files}
        captured = frozenset(address for node in nodes.values() for address in self._addresses(node))
        return [self._capture(path, node, listed.get(path.name), captured) for path, node in nodes.items()]

    def _captured_node(self, path: Path, listed: dict[str, CaptureFile]) -> str:
        return listed[path.name].node if path.name in listed else self._node_of(path.stem)

    def _capture(
        self, path: Path, node: str, listed: CaptureFile | None, captured: frozenset[int]
    ) -> Capture:
        interface = listed.interface if listed else path.stem[len(node) + 1 :]
        ports = frozenset(broker.port for broker in self.plan.brokers)
        own = self._addresses(node)
        until_ns = self._ended_on_the_wall_us * 1000
        return Capture(str(path), self.key, node, interface, own, captured, ports, until_ns, self._known)

    @cached_property
    def ended_us(self) -> int:
        """When the run ended and its processes were told to stop, by the harness; 0 = it does not say."""
        journal = self.folder.events / "harness.jsonl"
        lines = journal.read_bytes().splitlines() if journal.exists() else []
        for line in lines:
            if b'"RUN_ENDED"' in line:
                with contextlib.suppress(msgspec.MsgspecError):
                    return msgspec.json.decode(line, type=LogEvent).t_us
        return 0

    @property
    def _ended_on_the_wall_us(self) -> int:
        """The same by the clock that stamps packets; 0 where that was set back: a stamp is ambiguous then."""
        steps = [step.step_us for step in self.manifest.clock_steps if step.t_us <= self.ended_us]
        return 0 if any(step < 0 for step in steps) else self.ended_us + sum(steps)

    def _node_of(self, stem: str) -> str:
        """The longest node id that the file's name begins with."""
        fitting = [n.id for n in self.plan.network.nodes if stem == n.id or stem.startswith(n.id + "-")]
        return max(fitting, key=len, default="")

    def _addresses(self, node: str) -> frozenset[int]:
        texts = {n.address for n in self.plan.network.nodes if n.id == node}
        texts |= {broker.address for broker in self.plan.brokers if broker.node == node}
        return frozenset(int(IPv4Address(text.partition("/")[0])) for text in texts if text)


def load_runs(folders: Iterable[str | Path | RunFolder]) -> list[Run]:
    """Raises InputError for a folder that is no run folder; its message says what is missing."""
    paths = [folder.path if isinstance(folder, RunFolder) else Path(folder) for folder in folders]
    resolved = list(dict.fromkeys(_resolved(path) for path in paths))
    if not resolved:
        raise InputError("no run folder given", hint="testbed analyze results/NAME/latest")
    loaded = [(path, *_load(path)) for path in resolved]
    ids = [manifest.run or path.name for path, _, manifest in loaded]
    runs = []
    for (path, plan, manifest), run in zip(loaded, ids, strict=True):
        key = (
            run
            if ids.count(run) == 1
            else f"{path.parent.name}/{path.name}"
            if path.parent.name
            else str(path)
        )
        runs.append(Run(key, RunFolder(path), plan, manifest, _warnings(manifest)))
    if len({run.key for run in runs}) < len(runs):
        runs = [Run(str(r.folder.path), r.folder, r.plan, r.manifest, r.warnings) for r in runs]
    _say_mixed(runs)
    return runs


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (RuntimeError, OSError):
        raise InputError("this link leads to itself", file=path, hint="give results/NAME/RUN") from None


def _load(path: Path) -> tuple[Plan, Manifest]:
    folder = RunFolder(path)
    if not path.is_dir():
        raise InputError(
            f"there is no run folder {path}", hint="`ls results/*` shows the runs; `latest` is a link"
        )
    for needed in (folder.plan, folder.manifest):
        if not needed.exists():
            raise InputError(
                f"{path} is no run folder: it has no {needed.name}", hint="give results/NAME/RUN"
            )
    try:
        plan, manifest = folder.read_plan(), folder.read_manifest()
        folder.read_catalogue()
    except msgspec.MsgspecError as error:
        what = "plan.json, manifest.json or catalogue.json"
        raise InputError(f"{path}: {what} cannot be read: {error}") from None
    if plan.version > PLAN_VERSION:
        hint = "analyse it with the testbed that made it; manifest.json names the commit"
        raise InputError(
            f"plan version {plan.version}, known up to {PLAN_VERSION}", file=folder.plan, hint=hint
        )
    return plan, manifest


def _warnings(manifest: Manifest) -> list[str]:
    out = list(manifest.warnings)
    if manifest.status not in ("done", ""):
        out.append(f"the run is {manifest.status}{': ' + manifest.reason if manifest.reason else ''}")
    return out


def _say_mixed(runs: list[Run]) -> None:
    versions = sorted({run.manifest.version for run in runs})
    if len(versions) > 1:
        for run in runs:
            run.warnings.append(
                f"runs of different testbed versions are analysed together: {', '.join(versions)}"
            )
