"""Messages and kinds of log records: what each is said to be, who may add some, and what stops the start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from protos import bodies, catalogue, client_messages, core_messages, kinds, records
from protos.body import Body, BodyType
from protos.builtin import BODIES
from protos.purposes import PURPOSES, is_data
from protos.registration import RegistrationError

# Of these the tests know every message; those of protocols that came later are tested with them.
FILES = ("core", "client", "contentbased", "relocation", "topicconnected")
OLDEST = [one for one in BODIES if one.protocol in FILES]
FROM_BROKERS = {
    "redirect", "sync_complete", "heartbeat", "heartbeat_answer", "broker_information", "trace_result",
    "relocation_request", "relocation_answer", "trace_information_request", "trace_information_answer",
    "migration_update", "migration_complete",
}  # fmt: skip
FROM_CLIENTS = {"ping_answer", "migration_paused", "migration_advertisement"}


class Hum(Body, gc=False):
    type: ClassVar[str] = "hum_of_a_test"


class Buzz(Body, gc=False):
    type: ClassVar[str] = "buzz_of_a_test"


class Publication(Body, gc=False):
    type: ClassVar[str] = "publication"


def body(kind: type[Body], number: int, purpose: str = "chatter") -> BodyType:
    def nothing(_: Any) -> Any:
        return b""

    return BodyType(kind, number, "noise", "broker", purpose, nothing, nothing, nothing, len)


HUM = body(Hum, 2047)


# ---------------------------------------------------------------- the project's own


def test_who_may_send_what() -> None:
    assert {body.name for body in OLDEST if body.sender == "broker"} == FROM_BROKERS
    assert {body.name for body in OLDEST if body.sender == "client"} == FROM_CLIENTS


def test_what_says_nothing_about_routes_or_never_ends_does_not_settle() -> None:
    unsettled = {body.name for body in OLDEST if not body.settles}
    assert unsettled == {"hello", "refusal", "heartbeat", "heartbeat_answer", "publication"}
    assert client_messages.Subscription.settles
    assert not core_messages.Heartbeat(1).settles


def test_every_purpose_is_in_the_vocabulary_or_explained_by_its_protocol(repository: Path) -> None:
    for body in BODIES:
        file = (repository / "protos" / f"{body.protocol}.proto").read_text()
        assert body.purpose in PURPOSES or f"// {body.purpose}: " in file, body.name
    assert {body.name for body in OLDEST if is_data(body.purpose)} == {"publication"}


def test_a_protocol_is_named_by_its_file() -> None:
    protocols = {body.name: body.protocol for body in BODIES}
    assert protocols["hello"] == "core"
    assert protocols["publication"] == "client"
    assert protocols["sync_complete"] == "contentbased"
    assert protocols["migration_update"] == "relocation"
    assert protocols["overlay_order"] == "topicconnected"


# ---------------------------------------------------------------- bodies of others


def test_a_plug_ins_message_is_known_once_it_is_registered() -> None:
    bodies.register(HUM)
    bodies.register(HUM)  # twice the same is once
    assert bodies.TYPE_OF[Hum] == "hum_of_a_test"
    assert bodies.SENDER_OF[Hum] == "broker"
    assert bodies.BY_NUMBER[2047] is HUM


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (body(Buzz, 2047), r"body number 2047 is wanted by both .*\.Hum and .*\.Buzz"),
        (body(Publication, 2046), r"body name publication is wanted by both "
         r"protos\.client_messages\.Publication and .*test_registries\.Publication"),
        (body(Buzz, 18), r"Buzz wants body number 18; those of plug-ins are 1024 to 2047"),
        (body(Buzz, 2048), r"Buzz wants body number 2048; those of plug-ins are 1024 to 2047"),
    ],
)  # fmt: skip
def test_a_clash_names_both_sides_and_changes_nothing(wanted: BodyType, message: str) -> None:
    bodies.register(HUM)
    before = dict(bodies.BODY_TYPES), dict(bodies.BY_NUMBER), dict(bodies.TYPE_OF)
    with pytest.raises(RegistrationError, match=message):
        bodies.register(wanted)
    assert before == (bodies.BODY_TYPES, bodies.BY_NUMBER, bodies.TYPE_OF)


@pytest.mark.parametrize("name", ["all", "unknown", "malformed", "compressed", "body_7", "Hum", "a b", ""])
def test_a_name_that_tables_use_for_something_else_is_refused(name: str) -> None:
    kind = type("Hum", (Body,), {"type": name})
    with pytest.raises(RegistrationError, match="is no name of a body"):
        bodies.register(body(kind, 2045))


def test_the_projects_own_may_not_use_the_numbers_of_others() -> None:
    with pytest.raises(RegistrationError, match="the project's own are 8 to 1023"):
        bodies._add(body(Buzz, 1024), builtin=True)


# ---------------------------------------------------------------- kinds of log records


def test_a_registered_kind_is_written_and_read() -> None:
    hummed = kinds.register(1_000_001, "HUMMED", "noise")
    assert kinds.register(1_000_001, "HUMMED", "noise") == hummed
    line = msgspec.json.encode(records.LogEvent(t_us=1, kind=hummed))
    assert line == b'{"t_us":1,"kind":"HUMMED"}'
    assert msgspec.json.decode(line, type=records.LogEvent).kind == "HUMMED"


@pytest.mark.parametrize(
    ("number", "name", "message"),
    [
        (1_000_001, "BUZZED", "record kind number 1000001 is wanted by both noise and bees"),
        (1_000_002, "HUMMED", "record kind name HUMMED is wanted by both noise and bees"),
        (1_000_002, "SENT", "record kind name SENT is wanted by both protos/eventlog.proto and bees"),
        (23, "BUZZED", "bees wants record kind number 23; those of plug-ins are 1000 to"),
        (1_000_002, "buzzed", "bees: 'buzzed' is no name of a record kind"),
    ],
)
def test_a_clash_of_kinds_names_both_sides(number: int, name: str, message: str) -> None:
    kinds.register(1_000_001, "HUMMED", "noise")
    with pytest.raises(RegistrationError, match=message):
        kinds.register(number, name, "bees")


def test_kinds_are_those_of_the_schema() -> None:
    from protos import eventlog_pb2

    assert dict(eventlog_pb2.Kind.items()) == records.KINDS


def test_a_protocol_keeps_its_kinds_in_its_folder() -> None:
    """Numbers are those that logs have had from the start."""
    from broker_grpc.protocols.relocation.kinds import SELECTED
    from broker_grpc.protocols.topicconnected.kinds import JOINED, LEFT, OVERLAY_UP, REPAIRED

    own = (SELECTED, JOINED, LEFT, REPAIRED, OVERLAY_UP)
    assert [kinds.KINDS[kind] for kind in own] == [33, 60, 61, 62, 63]
    assert not records.KINDS.keys() & set(own)


# ---------------------------------------------------------------- the catalogue


def test_the_catalogue_has_all_that_is_registered_and_every_field() -> None:
    bodies.register(HUM)
    written = json.loads(catalogue.encode(catalogue.current()))
    by_name = {message["name"]: message for message in written["messages"]}
    assert by_name["heartbeat"] == {
        "number": 10, "name": "heartbeat", "sender": "broker", "settles": False, "purpose": "heartbeat",
        "protocol": "core",
    }  # fmt: skip
    assert by_name["hum_of_a_test"]["purpose"] == "chatter"
    assert {"number": 14, "name": "PUBLISHED"} in written["kinds"]
    assert catalogue.decode(catalogue.encode(catalogue.current())) == catalogue.current()


def test_the_builtin_catalogue_has_no_plug_ins() -> None:
    bodies.register(HUM)
    listed = catalogue.builtin()
    assert {message.number for message in listed.messages} == {body.number for body in BODIES}
    numbers = {kind.name: kind.number for kind in listed.kinds}
    assert records.KINDS.items() <= numbers.items()
    assert all(number in kinds.OWN for number in numbers.values())
