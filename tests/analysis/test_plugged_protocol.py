"""Tables of a run whose protocol is another package's, made without that package."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.emulation.deployments import latest, of_kind
from tests.plugin.gossip_site import EXAMPLE, RING, install, verb

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
@pytest.mark.slow
def test_overhead_names_its_message_and_purpose(spark: SparkSession, tmp_path: Path) -> None:
    from testbed.analysis import analyze

    done = verb([install(EXAMPLE, tmp_path)], "simulate", RING, "--results", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = latest(tmp_path, "gossip-ring")
    assert importlib.util.find_spec("gossip") is None
    analysis = analyze([folder.path], spark=spark, write=False)
    overhead = analysis.frame("overhead", folder.path.name).query("link == 'overlay'").set_index("type")
    assert overhead.loc["digest", "class"] == "control"
    assert overhead.loc["digest", "purpose"] == "repair"
    sent = [event for event in of_kind(folder, "SENT") if event.type == "digest"]
    assert overhead.loc["digest", "log_messages"] == len(sent) == 10
    assert not any(check.failed for check in analysis.verdicts[folder.path.name])
