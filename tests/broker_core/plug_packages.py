"""Packages as an installer leaves them: modules, and a `dist-info` folder with the entry points."""

from __future__ import annotations

from pathlib import Path

# A protocol that is content-based routing by another name, with a parameter of its own.
PLUG = """
import msgspec
from typing import Annotated
from msgspec import Meta
from broker_grpc.core.parameters import Microseconds
from broker_grpc.protocols.contentbased.plug import broker_with
from broker_grpc.registry import Entry

class Settings(msgspec.Struct, forbid_unknown_fields=True):
    patience_us: Annotated[Microseconds, Meta(ge=1, description="waits so long")] = 7

PROTOCOLS = (Entry("{name}", Settings, lambda config, settings: broker_with(config), "any", "a test"),)
"""


def plug(name: str) -> str:
    return PLUG.format(name=name)


def install(folder: Path, package: str, text: str, point: str, value: str = "{module}:PROTOCOLS") -> str:
    """A package with one module and one entry point; returns the module's name."""
    module = package.replace("-", "_")
    (folder / f"{module}.py").write_text(text)
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[pubsub_testbed.protocols]\n{point} = {value.format(module=module)}\n"
    )
    return module
