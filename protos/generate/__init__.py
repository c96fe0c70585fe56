"""Writes all generated code under `protos/` from the .proto files, and that of other packages from theirs.

    python -m protos.generate                       write
    python -m protos.generate --check               exit 1 and name the files that are out of date
    python -m protos.generate PATH/TO/gossip.proto  write gossip_pb2.py and gossip_messages.py beside it
    python -m protos.generate --check PATH/TO/gossip.proto

Beside protoc's own output it writes, from the descriptors:

- `<protocol>_messages.py`  the messages of one .proto file as msgspec structs, bytes <-> structs, the exact
                            encoded size without encoding, and BODIES, what `protos.bodies` registers. State
                            machines and the simulator carry these structs: they cost a tenth of a protobuf
                            object, and are immutable by convention.
- `builtin.py`              all of the project's BODIES.
- `records.py`              the JSON records of a run folder (LogEvent, ProbeResult, Manifest, ...).

So every schema stands in one .proto file and nowhere else.
"""
