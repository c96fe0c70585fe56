"""Names and protocols: this project's, those of other packages, and what is said when something is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import typing
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from broker_grpc.client.part import Part
from broker_grpc.core.config import BrokerProcessConfig
from broker_grpc.errors import BrokerError
from broker_grpc.machine import Machine
from broker_grpc.protocols.contentbased.broker import Broker
from broker_grpc.registry import (
    ClientSide,
    Entry,
    Plug,
    Registry,
    UnknownProtocol,
    find_protocols,
    machine_of,
    own_plugs,
)
from protos.bodies import BODY_TYPES
from protos.body import Body
from testbed.doctor.finding import State
from testbed.doctor.protocols import protocols
from tests.broker_core.plug_packages import install, plug

OWN = Registry(own_plugs())


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder where Python looks for packages."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for module in set(sys.modules) - before:
        if (tmp_path / f"{module}.py").exists():
            del sys.modules[module]


# ---------------------------------------------------------------- this project's


def test_every_plug_of_the_project_can_be_used() -> None:
    assert OWN.names()
    assert (OWN.broken, OWN.clashes()) == ([], [])


@pytest.mark.parametrize("entry", [*OWN], ids=OWN.names())
def test_every_parameter_has_a_meaning_and_times_have_their_unit(entry: Entry) -> None:
    assert entry.summary
    for name, hint in typing.get_type_hints(entry.settings, include_extras=True).items():
        metas = [meta for meta in hint.__metadata__ if isinstance(meta, msgspec.Meta)]
        assert any(meta.description for meta in metas), name
        units = [meta.extra_json_schema["unit"] for meta in metas if meta.extra_json_schema]
        assert units == ["µs"] if name.endswith("_us") else units != ["µs"], name


@pytest.mark.parametrize("entry", [*OWN], ids=OWN.names())
def test_every_protocol_makes_a_machine_from_its_defaults(entry: Entry) -> None:
    machine: Machine = machine_of(BrokerProcessConfig("B1", "", algorithm={"name": entry.name}))
    assert machine.next_deadline_us() is None or isinstance(machine.next_deadline_us(), int)


def test_a_broker_without_algorithm_routes_by_content() -> None:
    assert isinstance(machine_of(BrokerProcessConfig("B1", "")), Broker)
    assert OWN.entry({}) is OWN.entry({"name": OWN.default().name})


def test_a_plain_broker_imports_no_other_machine() -> None:
    text = (
        "import sys; from broker_grpc.registry import *; machine_of(BrokerProcessConfig('B1', ''));"
        "print([m for m in sys.modules if m.startswith('broker_grpc.protocols.')])"
    )
    loaded = subprocess.check_output([sys.executable, "-c", text], text=True)
    assert "contentbased.broker" in loaded
    assert "relocation.pop" not in loaded
    assert "topicconnected.coordinator" not in loaded


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(UnknownProtocol) as caught:
        OWN.entry({"name": "grap"})
    assert str(caught.value).startswith("there is no algorithm 'grap'; did you mean 'grape'?; known: ")
    assert caught.value.known == sorted(OWN.names())


# ---------------------------------------------------------------- those of other packages


@pytest.mark.parametrize("value", ["{module}:PROTOCOLS", "{module}"])
def test_an_entry_point_leads_to_entries_or_to_a_module_with_them(site: Path, value: str) -> None:
    install(site, "gossip-pubsub", plug("gossip"), "anything", value)
    known = find_protocols()
    assert known.names() == [*OWN.names(), "gossip"]
    chosen = {"name": "gossip", "patience_us": 9}
    assert known.settings(chosen).patience_us == 9
    machine = known.entry(chosen).build(BrokerProcessConfig("B1", ""), known.settings(chosen))
    assert isinstance(machine, Broker)
    with pytest.raises(BrokerError, match=r"algorithm 'gossip': Expected `int` >= 1 - at `\$.patience_us`"):
        known.settings({"name": "gossip", "patience_us": 0})


def test_a_name_of_two_packages_stands_for_neither(site: Path) -> None:
    install(site, "one-gossip", plug("gossip"), "gossip")
    install(site, "other-gossip", plug("gossip"), "gossip")
    known = find_protocols()
    with pytest.raises(BrokerError, match=r"'gossip' is registered twice: .*one-gossip.* and .*other-gossip"):
        known.entry({"name": "gossip"})
    assert known.names() == OWN.names()
    assert protocols(known).state is State.NOTE
    assert "registered twice" in protocols(known).detail


def test_a_package_cannot_take_the_place_of_a_protocol_of_the_project(site: Path) -> None:
    taken = OWN.default().name
    install(site, "usurper", plug(taken), "usurper")
    known = find_protocols()
    assert known.entry({}) == OWN.default()
    assert known.names() == OWN.names()
    (broken,) = known.broken
    assert re.search(r"registered twice: by broker_grpc\.protocols\..* and .*usurper", str(broken))
    assert "usurper" in protocols(known).detail


BROKEN = {
    "import": ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
    "no entries": ("PROTOCOLS = ['gossip']", "TypeError: PROTOCOLS must be a tuple of"),
    "limits": (
        plug("gossip").replace("Microseconds, ", "Microseconds, Meta(ge=0), "),
        "TypeError: Multiple `Meta` annotations setting `ge`",
    ),
    "parameter": (plug("gossip").replace("patience_us", "name"), "a parameter cannot be called 'name'"),
    "exit": ("raise SystemExit(3)", "SystemExit: 3 ("),
    "place": ("x = 1\ny = x / 0", "ZeroDivisionError: division by zero ("),
    "overlay": (plug("gossip").replace('"any"', '"anny"'), "overlay 'anny' is none of"),
}


@pytest.mark.parametrize(("text", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_package_is_told_when_its_name_is_asked_for(site: Path, text: str, reason: str) -> None:
    install(site, "broken-gossip", text, "gossip", "{module}")
    known = find_protocols()
    assert known.names() == OWN.names()
    assert known.entry({}) is known.default()
    for name in ("gossip", "rumour"):  # its own, and one that it might have
        with pytest.raises(BrokerError, match="broken-gossip") as caught:
            known.entry({"name": name})
        assert reason in str(caught.value)
    assert protocols(known).state is State.NOTE
    assert reason in protocols(known).detail


# ---------------------------------------------------------------- with the verbs


def verb(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-c", "import sys; from testbed.cli import main; sys.exit(main())", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )


RING = """
name: foreign
network: {{generator: ring, nodes: 3}}
brokers: {{B: {{count: 3}}}}
overlay: {{generator: ring}}
algorithm: {{name: gossip, patience_us: {patience}}}
"""


def test_the_plan_knows_the_names_parameters_and_overlays_of_a_package(tmp_path: Path) -> None:
    """Its entry says that it works on any overlay: a ring is one."""
    install(tmp_path, "gossip-pubsub", plug("gossip"), "gossip")
    file = tmp_path / "foreign.yaml"
    file.write_text(RING.format(patience=5))
    good = verb(tmp_path, "validate", str(file))
    assert good.returncode == 0, good.stdout + good.stderr
    file.write_text(RING.format(patience=0))
    bad = verb(tmp_path, "validate", str(file))
    assert bad.returncode == 2
    assert "parameter patience_us must be at least 1, not 0; whole number; waits so long; in µs" in (
        bad.stdout
    )


def test_a_machine_that_breaks_fails_its_run_and_says_where(tmp_path: Path) -> None:
    broken = plug("gossip").replace("broker_with(config)", "broker_with(no_such_name)")
    module = install(tmp_path, "gossip-pubsub", broken, "gossip")
    file = tmp_path / "foreign.yaml"
    file.write_text(RING.format(patience=5))
    said = verb(tmp_path, "simulate", str(file), "--results", str(tmp_path / "results"))
    assert said.returncode == 1
    (run,) = (tmp_path / "results").glob("*/2*")
    manifest = json.loads((run / "manifest.json").read_bytes())
    assert manifest["status"] == "failed"
    assert re.match(rf"NameError: .*no_such_name.*{module}\.py:\d+; logs/simulate\.log", manifest["reason"])
    assert "Traceback" in (run / "logs" / "simulate.log").read_text()


def test_the_printed_schema_has_the_parameters_of_a_package(tmp_path: Path) -> None:
    install(tmp_path, "gossip-pubsub", plug("gossip"), "gossip")
    done = subprocess.run(
        [sys.executable, "-m", "testbed.topology.file.docs", "--installed"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    definition = json.loads(done.stdout)["$defs"]["Algorithm.gossip"]
    assert definition["properties"]["patience_us"] == {
        "type": "integer", "minimum": 1, "default": 7, "unit": "µs", "description": "waits so long; in µs",
    }  # fmt: skip


# ---------------------------------------------------------------- the client's side


def side_of(kind: type[Body]) -> ClientSide:
    return ClientSide((kind,), lambda client: Part(client))


def test_a_message_that_clients_take_for_two_protocols_is_refused() -> None:
    """Of two protocols with the same side, as POP and GRAPE, both can be used."""
    pop, grape = OWN.entry({"name": "pop"}), OWN.entry({"name": "grape"})
    assert pop.client == grape.client != ()
    rival = replace(pop, name="rival", client=(side_of(pop.client[0].takes[0]),))
    plugs = [Plug("p", "own", lambda: (pop, grape)), Plug("r", "the package rival", lambda: (rival,))]
    found = Registry(plugs)
    assert found.names() == ["pop", "grape"]
    reason = "clients take the message 'ping_request' for 'pop' already"
    assert [(one.name, one.reason) for one in found.broken] == [("rival", reason)]
    with pytest.raises(BrokerError, match=reason):
        found.entry({"name": "rival"})


def test_every_client_side_takes_messages_that_a_broker_may_send() -> None:
    taken = [kind for entry in OWN for side in entry.client for kind in side.takes]
    assert {BODY_TYPES[kind].sender for kind in taken} <= {"broker", "anyone"}
    assert taken
