"""Where everything of a run lives. Engines write it, Spark and the report read it.

results/<experiment>/<run>/
  topology.yaml        the file as given            plan.json      the resolved plan
  inputs/<hash>-<name>        the files that the plan names
  certificates/<holder>.pem   of a run with TLS, without keys
  manifest.json        protos/run.proto Manifest    fidelity.json  protos/run.proto Fidelity
  catalogue.json       protos/run.proto Catalogue: the messages and kinds of log records there are
  events/<process>.jsonl      LogEvent, one file per process (harness.jsonl is the harness's own)
  probes/<host>.jsonl         ProbeResult
  controller/ports.jsonl      PortCounter           controller/flows.jsonl   FlowCounter
  pcap/<host>-<interface>.pcap
  logs/<process>.log          standard output and error of every process
  tables/<name>.parquet/ and <name>.csv             verdicts.json, report.html
results/<experiment>/latest -> <run>
"""

from __future__ import annotations

import os
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path

import msgspec

from protos import catalogue
from protos.records import Catalogue, Fidelity, Manifest
from testbed.errors import InputError
from testbed.run.asker import make_folders, remedy
from testbed.topology.plan import Plan
from testbed.topology.plan import load as load_plan


@dataclass(frozen=True)
class RunFolder:
    path: Path

    @property
    def topology(self) -> Path:
        return self.path / "topology.yaml"

    @property
    def plan(self) -> Path:
        return self.path / "plan.json"

    @property
    def manifest(self) -> Path:
        return self.path / "manifest.json"

    @property
    def fidelity(self) -> Path:
        return self.path / "fidelity.json"

    @property
    def catalogue(self) -> Path:
        return self.path / "catalogue.json"

    @property
    def verdicts(self) -> Path:
        return self.path / "verdicts.json"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def events(self) -> Path:
        return self.path / "events"

    @property
    def probes(self) -> Path:
        return self.path / "probes"

    @property
    def controller(self) -> Path:
        return self.path / "controller"

    @property
    def pcap(self) -> Path:
        return self.path / "pcap"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def tables(self) -> Path:
        return self.path / "tables"

    @property
    def certificates(self) -> Path:
        return self.path / "certificates"

    @property
    def control_secret(self) -> Path:
        """Opens the brokers' control service, where the plan asks for it, as long as the run lasts."""
        return self.path / "control.secret"

    def write_control_secret(self) -> None:
        with open(os.open(self.control_secret, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_hex(16))

    def create(self) -> None:
        for folder in (self.events, self.probes, self.controller, self.pcap, self.logs):
            folder.mkdir(parents=True, exist_ok=True)

    def read_plan(self) -> Plan:
        return load_plan(self.plan.read_bytes())

    def required(self) -> RunFolder:
        """Itself; InputError where what every run folder has is missing or cannot be read."""
        for needed, read in ((self.plan, self.read_plan), (self.manifest, self.read_manifest)):
            if not needed.is_file():
                raise InputError(
                    f"{self.path} is no run folder: it has no {needed.name}", hint="give results/NAME/RUN"
                )
            try:
                read()
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise InputError(f"cannot be read: {error}", file=needed) from None
        return self

    def read_manifest(self) -> Manifest:
        return msgspec.json.decode(self.manifest.read_bytes(), type=Manifest)

    def write_manifest(self, manifest: Manifest) -> None:
        write_atomically(self.manifest, msgspec.json.format(msgspec.json.encode(manifest), indent=1))

    def read_fidelity(self) -> Fidelity | None:
        if not self.fidelity.exists():
            return None
        return msgspec.json.decode(self.fidelity.read_bytes(), type=Fidelity)

    def write_fidelity(self, fidelity: Fidelity) -> None:
        write_atomically(self.fidelity, msgspec.json.format(msgspec.json.encode(fidelity), indent=1))

    def read_catalogue(self) -> Catalogue:
        """That of the project alone for a folder of older days, which has none."""
        if not self.catalogue.exists():
            return catalogue.builtin()
        return catalogue.decode(self.catalogue.read_bytes())

    def write_catalogue(self) -> None:
        """Of what is registered now."""
        written = msgspec.json.format(catalogue.encode(catalogue.current()), indent=1)
        write_atomically(self.catalogue, written)


def make_results(folder: Path) -> None:
    """The folder is there and takes files; raises InputError that names it and the reason."""
    doing = "made"
    try:
        make_folders(folder)
        doing = "written"
        with tempfile.TemporaryFile(dir=folder):  # a read-only mount has folders, too
            pass
    except OSError as error:
        whose, mended = remedy(folder) or ("", "")
        message = f"the folder for results cannot be {doing}: {whose or error.strerror or error}"
        hint = " or ".join(filter(None, [mended, "--results DIR, a folder that you can write"]))
        raise InputError(message, file=folder, hint=hint) from None


def write_atomically(path: Path, data: bytes) -> None:
    """A reader sees the old file or the new one, never half of one."""
    scratch = path.with_name(path.name + ".tmp")
    scratch.write_bytes(data)
    scratch.replace(path)
