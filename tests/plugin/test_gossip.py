"""A protocol of another package, installed beside the project, which knows nothing of it: simulated."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from testbed.run.folder import RunFolder
from tests.emulation.deployments import latest, of_kind
from tests.plugin.gossip_site import EXAMPLE, RING, install, renamed, verb


def simulate(site: Path, results: Path, topology: Path = RING, *options: str) -> RunFolder:
    done = verb([site], "simulate", topology, "--results", results, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return latest(results, "gossip-ring")


def deliveries(folder: RunFolder) -> Counter[tuple[str, str]]:
    return Counter((event.node, event.message) for event in of_kind(folder, "DELIVERED"))


def published(folder: RunFolder) -> set[str]:
    return {event.message for event in of_kind(folder, "PUBLISHED")}


def everyone_once(folder: RunFolder) -> Counter[tuple[str, str]]:
    subscribers = [client.id for client in folder.read_plan().clients if client.subscriptions]
    return Counter((node, message) for node in subscribers for message in published(folder))


# ---------------------------------------------------------------- the usual run


@pytest.fixture(scope="module")
def folder(site: Path, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return simulate(site, tmp_path_factory.mktemp("ring"))


def test_every_subscriber_gets_every_publication_once(folder: RunFolder) -> None:
    """On a circle: the second copy is dropped, and the log says so."""
    assert len(published(folder)) > 10
    assert deliveries(folder) == everyone_once(folder)
    reasons = Counter(event.detail for event in of_kind(folder, "DROPPED"))
    # Each of five brokers sends on to all but the sender: six copies, of which four are news.
    assert reasons == {"duplicate": 2 * len(published(folder))}


def test_a_run_folder_names_its_messages_and_records(folder: RunFolder) -> None:
    listed = json.loads(folder.catalogue.read_bytes())
    told = {"settles": False, "purpose": "repair", "protocol": "gossip"}
    assert listed["messages"][-2:] == [
        {"number": 1100, "name": "digest", "sender": "broker", **told},
        {"number": 1101, "name": "missed", "sender": "client", **told},
    ]
    assert listed["kinds"][-1] == {"number": 1100, "name": "GOSSIP_REPEATED"}


def test_a_run_that_is_repeated_from_its_plan_names_them_too(
    folder: RunFolder, site: Path, tmp_path: Path
) -> None:
    said = verb([site], "rerun", folder.path, "--results", tmp_path, "--no-diff")
    assert said.returncode == 0, said.stderr
    again = RunFolder(next(tmp_path.glob("*/latest")))
    assert again.read_catalogue() == folder.read_catalogue()
    assert "digest" in {message.name for message in again.read_catalogue().messages}


def test_the_same_seed_gives_the_same_log(folder: RunFolder, site: Path, tmp_path: Path) -> None:
    runs = folder, simulate(site, tmp_path)
    logs = [{path.name: path.read_bytes() for path in run.events.iterdir()} for run in runs]
    assert logs[0] == logs[1]
    assert any(logs[0].values())


# ---------------------------------------------------------------- what its settings do


def test_nothing_goes_beyond_its_reach(site: Path, tmp_path: Path) -> None:
    folder = simulate(site, tmp_path, RING, "--set", "algorithm.reach=1")
    heard = {message: {n for n, m in deliveries(folder) if m == message} for message in published(folder)}
    near = {"pub-B1": {"sub-B5", "sub-B1", "sub-B2"}, "pub-B3": {"sub-B2", "sub-B3", "sub-B4"}}
    assert heard
    for message, subscribers in heard.items():
        assert subscribers == near[message.partition(":")[0]], message
    lost = Counter(event.message for event in of_kind(folder, "DROPPED") if event.detail == "out of reach")
    assert lost == {message: 2 for message in heard}


CUT_OFF = """
events:
  - {at: 200ms, kill: [B2, B4]}
  - {at: 2s, start: B2}
"""


def test_what_a_neighbour_missed_is_repeated(site: Path, tmp_path: Path) -> None:
    """B3 is cut off until one of its neighbours is back; its client gets everything, in the end, and once."""
    text = RING.read_text().replace("defaults:", "defaults:\n  broker: {on_crash: continue}")
    text = text.replace("{lead: 2s}", "{lead: 2s, on_crash: continue}")
    topology = tmp_path / "cut-off.yaml"
    topology.write_text(text + CUT_OFF)
    folder = simulate(site, tmp_path, topology)
    told = [(event.node, event.peer) for event in of_kind(folder, "GOSSIP_REPEATED")]
    assert {("B1", "B2"), ("B3", "B2"), ("B2", "B3"), ("B2", "B1")} >= set(told) > set()
    got, expected = deliveries(folder), everyone_once(folder)
    stayed = ("sub-B1", "sub-B3", "sub-B5")
    assert {pair: n for pair, n in got.items() if pair[0] in stayed} == {
        pair: 1 for pair in expected if pair[0] in stayed
    }


def test_a_protocol_that_never_falls_silent_settles(site: Path, tmp_path: Path) -> None:
    """Digests every 100 ms do not count when the harness waits for what settles."""
    folder = simulate(site, tmp_path, RING, "--set", "algorithm.digest_every_us=100000")
    digests = [event for event in of_kind(folder, "SENT") if event.type == "digest"]
    assert len(digests) > 500
    assert deliveries(folder) == everyone_once(folder)


# ---------------------------------------------------------------- verbs


def test_the_plan_checks_its_settings(site: Path, tmp_path: Path) -> None:
    assert verb([site], "validate", RING).returncode == 0
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(RING.read_text().replace("reach: 4", "reach: 0"))
    said = verb([site], "validate", wrong)
    assert said.returncode == 2
    assert "algorithm gossip, parameter reach must be at least 1" in said.stdout + said.stderr


def test_without_the_package_there_is_no_such_protocol() -> None:
    said = verb([], "validate", RING)
    assert said.returncode == 2
    assert "there is no algorithm 'gossip'" in said.stdout + said.stderr


def test_doctor_lists_it(site: Path) -> None:
    assert protocols_line([site]).endswith("gossip")
    assert "gossip" not in protocols_line([])


def protocols_line(sites: list[Path]) -> str:
    said = verb(sites, "doctor", "--json").stdout
    [finding] = [one for one in json.loads(said)["findings"] if one["name"] == "protocols"]
    return str(finding["detail"])


# ---------------------------------------------------------------- two packages


NUMBER, KIND = {"number: 1100": "number: 1200"}, {"register(1100": "register(1200"}


@pytest.mark.parametrize(
    ("edits", "clash"),
    [
        (NUMBER, "record kind number 1100 is wanted by both chatter and gossip"),
        (KIND, "body number 1100 is wanted by both chatter.chatter_messages.Digest and gossip.gossip_mess"),
    ],
    ids=["kind", "number"],
)
def test_two_packages_that_want_the_same_stop_with_a_word(
    site: Path, tmp_path: Path, edits: dict[str, str], clash: str
) -> None:
    """Whichever of them is asked for: what a number means must not hang on the order of their names."""
    other = install(renamed(EXAMPLE, tmp_path / "sources", "chatter", edits), tmp_path)
    said = verb([site, other], "simulate", RING, "--results", tmp_path / "results")
    assert said.returncode == 2
    words = " ".join((said.stdout + said.stderr).split())
    assert "algorithm 'gossip': the package pubsub-gossip (gossip.plug) cannot be used" in words
    assert clash in words
    refused = verb([site, other], "validate", tmp_path / "sources" / "ring.yaml")
    assert refused.returncode == 2
    assert clash in " ".join((refused.stdout + refused.stderr).split())
    assert verb([site, other], "validate", "topologies/quickstart.yaml").returncode == 0


# ---------------------------------------------------------------- generated code


def test_its_generated_code_is_current() -> None:
    command = [sys.executable, "-m", "protos.generate", "--check"]
    proto = EXAMPLE / "gossip" / "gossip.proto"
    done = subprocess.run([*command, proto], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_generated_code_that_is_not_is_named(tmp_path: Path) -> None:
    package = Path(shutil.copytree(EXAMPLE / "gossip", tmp_path / "gossip"))
    proto = package / "gossip.proto"
    proto.write_text(proto.read_text().replace("publications = 1", "heard = 1"))
    command = [sys.executable, "-m", "protos.generate", "--check", proto]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.findall(r"(\w+\.py) is out of date: run `python -m protos.generate", done.stderr) == [
        "gossip_messages.py", "gossip_pb2.py",
    ]  # fmt: skip


# ---------------------------------------------------------------- the client's side

LATE = """
name: gossip-ring
seed: 1
duration: 8s
network: {generator: ring, nodes: 5, link: {latency: 10ms}}
brokers: {B: {count: 5, place: one_per_node}}
overlay: {generator: ring}
algorithm: {name: gossip, reach: 4, tells_clients: TELLS}
clients:
  pub: {kind: publisher, broker: B1, publish: {source: stock, rate: 2/s, parameters: {symbol: YHOO}}}
  sub:
    kind: subscriber
    broker: B3
    subscribe: ["[class,eq,'STOCK'],[symbol,eq,'YHOO']", "[class,eq,'STOCK']", "[class,eq,'NEWS']"]
events:
  - {at: 3s, leave: sub}
  - {at: 6s, join: sub}
"""


@pytest.mark.parametrize("tells", [True, False])
def test_a_subscriber_that_was_away_gets_what_it_missed_once(site: Path, tmp_path: Path, tells: bool) -> None:
    """With several subscriptions that match the same publications, of which each may be asked for once."""
    topology = tmp_path / "late.yaml"
    topology.write_text(LATE.replace("TELLS", str(tells).lower()))
    folder = simulate(site, tmp_path / "results", topology)
    got = deliveries(folder)
    assert set(got.values()) == {1}
    missed = published(folder) - {message for _, message in got}
    away = {e.message for e in of_kind(folder, "PUBLISHED") if 3.2e6 < e.t_us - first(folder) < 5.8e6}
    assert len(away) > 3
    assert missed.isdisjoint(away) if tells else missed >= away
    assert not [e for e in of_kind(folder, "DROPPED") if e.node.startswith("sub")]


def first(folder: RunFolder) -> int:
    """When the phase began, whose events count from there."""
    return min(e.t_us for e in of_kind(folder, "PUBLISHED"))
