"""The command."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from protos.generate.modules import write_all_messages, write_builtin, write_messages, write_records
from protos.generate.schema import OPTIONS, ROOT, Schema, SchemaError, run_protoc

HERE = ROOT / "protos"
RECORDS = ("protos/eventlog.proto", "protos/run.proto")
NO_MESSAGES = {OPTIONS, "protos/wire.proto", *RECORDS}


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
    (target / "messages.py").write_text(write_all_messages(protocols))
    (target / "builtin.py").write_text(write_builtin(protocols))
    (target / "records.py").write_text(write_records(*(schema.file(name) for name in RECORDS)))


def generate_beside(path: Path) -> list[Path]:
    """The code of another package's .proto file; returns what was written."""
    path = path.resolve()
    if not path.is_file():
        raise SchemaError(f"there is no file {path}")
    root = import_root(path.parent)
    name = path.relative_to(root).as_posix()
    with tempfile.TemporaryDirectory() as scratch:
        schema = Schema(root, [name], Path(scratch))
        written = write_messages(schema, schema.file(name))
        schema.write_protobuf(root, stubs=False)
    messages = path.with_name(f"{path.stem}_messages.py")
    messages.write_text(written)
    return [path.with_name(f"{path.stem}_pb2.py"), messages]


def import_root(folder: Path) -> Path:
    """The folder from which Python imports what is in `folder`: the first one up that is no package."""
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


def update(check: bool) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        generate(Path(scratch))
        fresh = {path.name: path.read_bytes() for path in (Path(scratch) / "protos").iterdir()}
    stale = [name for name, data in sorted(fresh.items()) if not is_current(HERE / name, data)]
    for name in stale:
        if check:
            print(f"protos/{name} is out of date: run `make proto`", file=sys.stderr)
        else:
            (HERE / name).write_bytes(fresh[name])
            print(f"wrote protos/{name}")
    return 1 if check and stale else 0


def is_current(path: Path, data: bytes) -> bool:
    return path.exists() and path.read_bytes() == data


def main(arguments: list[str]) -> int:
    try:
        if not arguments or arguments == ["--check"]:
            return update(check=bool(arguments))
        for argument in arguments:
            for path in generate_beside(Path(argument)):
                print(f"wrote {path}")
    except SchemaError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
