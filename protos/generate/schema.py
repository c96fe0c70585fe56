"""The .proto files as descriptors, with the options of their messages."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from protos.body import Body, Sender
from protos.generate.fields import F, is_map, is_value

ROOT = Path(__file__).parents[2]
OPTIONS = "protos/options.proto"
EXTENSION = "testbed.options.body"
SENDERS: dict[int, Sender] = {0: "anyone", 1: "broker", 2: "client"}
TAKEN = {"type", "settles", *Body.__struct_fields__}  # a body has these already


class SchemaError(ValueError):
    """A .proto file asks for something that cannot be generated."""


@dataclass(frozen=True)
class BodyOption:
    """options.proto's Body, of one message."""

    number: int
    name: str
    sender: Sender
    settles: bool
    purpose: str


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def run_protoc(root: Path, arguments: list[str], names: list[str]) -> None:
    """`names`: of .proto files, relative to `root`. They may import this folder's and Google's own."""
    try:
        import grpc_tools
        from grpc_tools import protoc
    except ModuleNotFoundError:
        raise SchemaError("generating code needs protoc: pip install grpcio-tools") from None
    google = Path(grpc_tools.__file__).parent / "_proto"
    places = dict.fromkeys((root, ROOT, google))
    described = any(argument.startswith("--descriptor_set_in") for argument in arguments)
    sources = [] if described else [f"-I{place}" for place in places]
    code = protoc.main(["protoc", *sources, *arguments, *names])
    if code != 0:
        raise SchemaError("protoc refuses " + ", ".join(names))


class Schema:
    """Some .proto files, `names` relative to `root`, and all that they import."""

    def __init__(self, root: Path, names: list[str], scratch: Path) -> None:
        self._root, self._names, self._scratch = root, names, scratch
        described = scratch / "described"
        run_protoc(root, ["--include_imports", f"--descriptor_set_out={described}"], names)
        self._set = descriptor_pb2.FileDescriptorSet.FromString(described.read_bytes())
        self._pool = DescriptorPool()
        for file in self._set.file:
            self._pool.AddSerializedFile(file.SerializeToString())

    def write_protobuf(self, out: Path, *, stubs: bool) -> None:
        """protoc's own code. Our options are left out: they have done their work here, and with them every
        process would load the descriptors of descriptors when it starts."""
        plain = descriptor_pb2.FileDescriptorSet()
        plain.CopyFrom(self._set)
        for file in plain.file:
            file.dependency[:] = [name for name in file.dependency if name != OPTIONS]
            for message in file.message_type:
                _strip(message)
        stripped = self._scratch / "stripped"
        stripped.write_bytes(plain.SerializeToString())
        wanted = [f"--python_out={out}", *([f"--pyi_out={out}"] if stubs else [])]
        run_protoc(self._root, [f"--descriptor_set_in={stripped}", *wanted], self._names)

    def file(self, name: str) -> FileDescriptor:
        return self._pool.FindFileByName(name)

    def body(self, message: Descriptor) -> BodyOption | None:
        """None for a message that is only a part of others."""
        options = self._options(message)
        if options is None:
            return None
        return BodyOption(
            options.number,
            options.name or snake_case(message.name),
            SENDERS[options.sender],
            options.settles,
            options.purpose,
        )

    def _options(self, message: Descriptor) -> Any:
        """Read with the classes of this pool: that of the process may hold the files as they were."""
        given = message.GetOptions().SerializeToString()
        if not given or all(file.name != OPTIONS for file in self._set.file):
            return None
        all_options = GetMessageClass(self._pool.FindMessageTypeByName("google.protobuf.MessageOptions"))
        extension: Any = self._pool.FindExtensionByName(EXTENSION)
        options = all_options.FromString(given)
        return options.Extensions[extension] if options.HasExtension(extension) else None

    def messages(self, file: FileDescriptor) -> list[tuple[Descriptor, BodyOption | None]]:
        """Parts before wholes, else as in the file. Raises SchemaError for what cannot be generated."""
        found: dict[str, Descriptor] = {}
        for message in file.message_types_by_name.values():
            _collect(message, found)
        pairs = [(message, self.body(message)) for message in found.values()]
        for message, body in pairs:
            check(message, body)
        return pairs


def _strip(message: descriptor_pb2.DescriptorProto) -> None:
    """Without our options, and without what protoc writes into a set of descriptors only."""
    if message.HasField("options"):
        message.options.DiscardUnknownFields()
        if not message.options.ListFields():
            message.ClearField("options")
    for field in message.field:
        field.ClearField("json_name")
    for nested in message.nested_type:
        _strip(nested)


def _collect(message: Descriptor, found: dict[str, Descriptor]) -> None:
    if message.full_name in found:
        return
    for part in parts_of(message):
        if part.file is message.file and part is not message:
            _collect(part, found)
    found[message.full_name] = message


def parts_of(message: Descriptor) -> Iterator[Descriptor]:
    """The messages that its fields hold."""
    for field in message.fields:
        held = field.message_type
        if held is not None and is_map(field):
            held = held.fields_by_name["value"].message_type
        if held is not None:
            yield held


def check(message: Descriptor, body: BodyOption | None) -> None:
    nested = [t for t in message.nested_types if not t.GetOptions().map_entry]
    if nested or message.enum_types:
        raise SchemaError(f"{message.full_name}: declare its messages and enums beside it, not inside it")
    for field in message.fields:
        if field.containing_oneof is not None and not is_value(message):
            raise SchemaError(f"{field.full_name}: `oneof` and `optional` fields have no struct")
        if field.type == F.TYPE_GROUP:
            raise SchemaError(f"{field.full_name}: groups have no struct")
        _check_name(field, body)


def _check_name(field: FieldDescriptor, body: BodyOption | None) -> None:
    if keyword.iskeyword(field.name):
        raise SchemaError(f"{field.full_name}: {field.name!r} is a word of Python")
    if body is not None and field.name in TAKEN:
        raise SchemaError(f"{field.full_name}: every body has a {field.name!r} of its own")
