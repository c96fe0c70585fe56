"""Code for the .proto file of another package: generated, imported, registered, sent and read."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protos.bodies import BODY_TYPES, register
from protos.body import Envelope
from protos.client_messages import Advertisement
from protos.content_messages import Operator, Predicate
from protos.envelope import decode, encode, encoded_size
from protos.generate.__main__ import main

PROTO = """
syntax = "proto3";
package murmur;
import "protos/content.proto";
import "protos/client.proto";
import "protos/options.proto";

enum Mood { CALM = 0; LOUD = 1; ODD = -1; }

message Murmur {
  option (testbed.options.body) = { number: 2000, sender: BROKER, purpose: "murmuring" };
  string text = 1;
  bytes blob = 2;
  bool flag = 3;
  double wide = 4;
  float narrow = 5;
  int32 small = 6;
  int64 large = 7;
  uint32 natural = 8;
  uint64 number = 9;
  sint32 zigzag = 10;
  sint64 long_zigzag = 11;
  fixed32 four = 12;
  fixed64 eight = 13;
  sfixed32 signed_four = 14;
  sfixed64 signed_eight = 15;
  Mood mood = 16;
  Echo echo = 17;
  testbed.client.Advertisement advertisement = 18;
  testbed.content.Value value = 2047;
  testbed.content.Operator operator = 2048;
}

message Chorus {
  option (testbed.options.body) =
    { number: 2001, name: "many_voices", settles: false, purpose: "murmuring" };
  repeated string texts = 1;
  repeated bytes blobs = 2;
  repeated sint64 numbers = 3;
  repeated double reals = 4;
  repeated fixed32 fours = 5;
  repeated bool flags = 6;
  repeated Mood moods = 7;
  repeated Echo echoes = 8;
  map<string, testbed.content.Value> values = 9;
  map<uint32, string> names = 10;
  map<string, Echo> by_name = 11;
}

// A part of the messages before it.
message Echo {
  uint32 times = 1;
}

message Silence {
  option (testbed.options.body) = { number: 2002, purpose: "control" };
}
"""


@pytest.fixture(scope="module")
def murmur(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The generated module of a package of its own, registered."""
    package = tmp_path_factory.mktemp("elsewhere") / "murmur_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "murmur.proto").write_text(PROTO)
    command = [sys.executable, "-m", "protos.generate", str(package / "murmur.proto")]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert {path.name for path in package.iterdir()} == {
        "__init__.py", "murmur.proto", "murmur_pb2.py", "murmur_messages.py",
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(package.parent)
        module = importlib.import_module("murmur_package.murmur_messages")
        register(*module.BODIES)
        yield module


text, real = st.text(max_size=150), st.floats(allow_nan=False)
int32, int64 = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
uint32, uint64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)
value = text | int64 | real
predicate = st.builds(Predicate, text, st.sampled_from(Operator), value)
advertisement = st.builds(Advertisement, text, text, st.lists(predicate, max_size=3).map(tuple))


def tuples(one: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(one, max_size=4).map(tuple)


def murmurs(murmur: Any) -> st.SearchStrategy[Any]:
    blob, flag, mood = st.binary(max_size=200), st.booleans(), st.sampled_from(murmur.Mood)
    echo = st.builds(murmur.Echo, uint32)
    one = st.builds(
        murmur.Murmur, text, blob, flag, real, st.floats(width=32, allow_nan=False), int32, int64, uint32,
        uint64, int32, int64, uint32, uint64, int32, int64, mood, st.none() | echo,
        st.none() | advertisement, value, st.sampled_from(Operator),
    )  # fmt: skip
    many = st.builds(
        murmur.Chorus, tuples(text), tuples(blob), tuples(int64), tuples(real), tuples(uint32), tuples(flag),
        tuples(mood), tuples(echo), st.dictionaries(text, value, max_size=3),
        st.dictionaries(uint32, text, max_size=3), st.dictionaries(text, echo, max_size=3),
    )  # fmt: skip
    return one | many | st.builds(murmur.Silence)


@given(data=st.data())
def test_what_is_sent_is_read_and_has_the_size_that_was_told(murmur: Any, data: st.DataObject) -> None:
    sent = Envelope(data.draw(murmurs(murmur)), hops=3)
    size = encoded_size(sent)
    encoded = encode(sent)
    assert len(encoded) == size
    assert decode(encoded) == sent


@given(data=st.data())
def test_the_bytes_mean_the_same_to_protobuf(murmur: Any, data: st.DataObject) -> None:
    body = data.draw(murmurs(murmur))
    encode(Envelope(body))
    parsed = getattr(importlib.import_module("murmur_package.murmur_pb2"), type(body).__name__)()
    parsed.ParseFromString(body.wire)
    assert fields(parsed) == fields(body)


def fields(whole: Any) -> dict[str, Any]:
    """Of a struct or of protobuf's message: name -> value, in plain Python."""
    if hasattr(whole, "__struct_fields__"):
        names = [name for name in whole.__struct_fields__ if not name.startswith("wire")]
    else:
        single = [f.name for f in whole.DESCRIPTOR.fields if f.message_type and not f.is_repeated]
        names = [f.name for f in whole.DESCRIPTOR.fields if f.name not in single or whole.HasField(f.name)]
    found = {name: plain(getattr(whole, name)) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def plain(value: Any) -> Any:
    if hasattr(value, "WhichOneof") and value.DESCRIPTOR.name == "Value":
        return getattr(value, value.WhichOneof("kind"))
    if hasattr(value, "__struct_fields__") or hasattr(value, "DESCRIPTOR"):
        return fields(value)
    if hasattr(value, "items"):
        return {key: plain(one) for key, one in value.items()}
    scalar = value is None or isinstance(value, str | bytes | int | float)
    return value if scalar else [plain(one) for one in value]


def test_options_are_in_the_registry(murmur: Any) -> None:
    one, many = BODY_TYPES[murmur.Murmur], BODY_TYPES[murmur.Chorus]
    assert (one.number, one.name, one.sender, one.settles, one.purpose, one.protocol) == (
        2000, "murmur", "broker", True, "murmuring", "murmur",
    )  # fmt: skip
    assert (many.name, many.sender, many.settles) == ("many_voices", "anyone", False)
    assert murmur.Chorus().type == "many_voices"
    assert murmur.Echo not in BODY_TYPES


HEAD = 'syntax = "proto3"; package wrong; import "protos/options.proto"; '
OPTION = 'option (testbed.options.body) = { number: 2003, purpose: "control" };'


def _of(number: int, name: str) -> str:
    numbered = f'{{ number: {number}, sender: BROKER, purpose: "data" }}'
    return f"message {name} {{ option (testbed.options.body) = {numbered}; string b = 1; }}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("message A { message B {} }", "wrong.A: declare its messages and enums beside it"),
        ("message A { enum B { C = 0; } }", "wrong.A: declare its messages and enums beside it"),
        ("message A { optional string b = 1; }", "wrong.A.b: `oneof` and `optional` fields"),
        ("message A { oneof b { string c = 1; A d = 2; } }", "wrong.A.c: `oneof` and `optional` fields"),
        ("message A { string from = 1; }", "wrong.A.from: 'from' is a word of Python"),
        (f"message A {{ {OPTION} string type = 1; }}", "wrong.A.type: every body has a 'type' of its own"),
        (_of(7, "A"), "wrong.A: body number 7; those of plug-ins are 1024 to 2047"),
        (_of(2048, "A"), "wrong.A: body number 2048; those of plug-ins are 1024 to 2047"),
        (_of(1500, "A") + _of(1500, "B"), "wrong.B: wrong.A has the body number 1500"),
        ("message A { nonsense }", "protoc refuses wrong.proto"),
        ('message A { option (testbed.options.body) = { number: 1 }; }', "protoc refuses wrong.proto"),
    ],
)  # fmt: skip
def test_what_cannot_be_generated_is_said(
    tmp_path: Path, text: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wrong.proto"
    path.write_text(HEAD + text)
    assert main([str(path)]) == 1
    assert said in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == [path]


def test_options_of_others_are_none_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "plain.proto"
    path.write_text('syntax = "proto3"; message A { option deprecated = true; string b = 1; }')
    assert main([str(path)]) == 0
    assert "BODIES = (\n)" in (tmp_path / "plain_messages.py").read_text()


def test_a_file_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.proto")]) == 1
    assert "there is no file" in capsys.readouterr().err
