"""The command."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from google.protobuf.descriptor import FileDescriptor

from protos.generate.modules import write_builtin, write_messages, write_records
from protos.generate.schema import OPTIONS, ROOT, Schema, SchemaError, run_protoc

HERE = ROOT / "protos"
RECORDS = ("protos/eventlog.proto", "protos/run.proto")
NO_MESSAGES = {OPTIONS, "protos/wire.proto", *RECORDS}

Files = dict[Path, bytes]  # generated: where, and what


def generate(out: Path) -> None:
    """All generated files of this folder, into `out`."""
    names = [f"protos/{path.name}" for path in sorted(HERE.glob("*.proto"))]
    schema = Schema(ROOT, [name for name in names if name != OPTIONS], out)
    schema.write_protobuf(out, stubs=True)
    files = [schema.file(name) for name in names if name not in NO_MESSAGES]
    services = [file.name for file in files if file.services_by_name]
    run_protoc(ROOT, [f"--grpc_python_out={out}"], services)
    protocols = [file for file in files if file.name not in services]
    target = out / "protos"
    for file in protocols:
        (target / f"{Path(file.name).stem}_messages.py").write_text(write_messages(schema, file))
    (target / "builtin.py").write_text(write_builtin(protocols))
    (target / "records.py").write_text(write_records(*(schema.file(name) for name in RECORDS)))


def own_files() -> Files:
    with tempfile.TemporaryDirectory() as scratch:
        generate(Path(scratch))
        return {HERE / path.name: path.read_bytes() for path in (Path(scratch) / "protos").iterdir()}


def files_beside(path: Path) -> Files:
    """The code of another package's .proto file."""
    path = path.resolve()
    if not path.is_file():
        raise SchemaError(f"there is no file {path}")
    root = import_root(path.parent)
    name = path.relative_to(root).as_posix()
    protobuf, messages = (path.with_name(f"{path.stem}_{end}.py") for end in ("pb2", "messages"))
    with tempfile.TemporaryDirectory() as scratch:
        schema = Schema(root, [name], Path(scratch))
        check_numbers(schema, schema.file(name))
        written = write_messages(schema, schema.file(name))
        schema.write_protobuf(Path(scratch), stubs=False)
        made = Path(scratch) / protobuf.relative_to(root)
        return {protobuf: made.read_bytes(), messages: written.encode()}


def check_numbers(schema: Schema, file: FileDescriptor) -> None:
    """What the registry would refuse when the package is used. Raises SchemaError."""
    from protos.bodies import PLUGINS  # imports generated code, which is there when others' is made

    held: dict[int, str] = {}
    for message, body in schema.messages(file):
        if body is None:
            continue
        if body.number not in PLUGINS:
            allowed = f"those of plug-ins are {PLUGINS[0]} to {PLUGINS[-1]}"
            raise SchemaError(f"{message.full_name}: body number {body.number}; {allowed}")
        if body.number in held:
            raise SchemaError(f"{message.full_name}: {held[body.number]} has the body number {body.number}")
        held[body.number] = message.full_name


def import_root(folder: Path) -> Path:
    """The folder from which Python imports what is in `folder`: the first one up that is no package."""
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


def update(fresh: Files, check: bool, repair: str) -> bool:
    """Write what is out of date, or only name it; returns whether anything is out of date after that."""
    stale = [path for path, data in sorted(fresh.items()) if not is_current(path, data)]
    for path in stale:
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        if check:
            print(f"{shown} is out of date: run `{repair}`", file=sys.stderr)
        else:
            path.write_bytes(fresh[path])
            print(f"wrote {shown}")
    return check and bool(stale)


def is_current(path: Path, data: bytes) -> bool:
    return path.exists() and path.read_bytes() == data


def main(arguments: list[str]) -> int:
    check = arguments[:1] == ["--check"]
    others = arguments[1:] if check else arguments
    try:
        if not others:
            return update(own_files(), check, "make proto")
        return max(
            update(files_beside(Path(other)), check, f"python -m protos.generate {other}") for other in others
        )
    except SchemaError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
