from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ProbeResult(_message.Message):
    __slots__ = ("t_us", "source", "target", "planned_us", "measured_us", "sequence")
    T_US_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    PLANNED_US_FIELD_NUMBER: _ClassVar[int]
    MEASURED_US_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    t_us: int
    source: str
    target: str
    planned_us: int
    measured_us: float
    sequence: int
    def __init__(self, t_us: _Optional[int] = ..., source: _Optional[str] = ..., target: _Optional[str] = ..., planned_us: _Optional[int] = ..., measured_us: _Optional[float] = ..., sequence: _Optional[int] = ...) -> None: ...

class PortCounter(_message.Message):
    __slots__ = ("t_us", "node", "peer", "rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "rx_dropped", "tx_dropped")
    T_US_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    RX_PACKETS_FIELD_NUMBER: _ClassVar[int]
    RX_BYTES_FIELD_NUMBER: _ClassVar[int]
    TX_PACKETS_FIELD_NUMBER: _ClassVar[int]
    TX_BYTES_FIELD_NUMBER: _ClassVar[int]
    RX_DROPPED_FIELD_NUMBER: _ClassVar[int]
    TX_DROPPED_FIELD_NUMBER: _ClassVar[int]
    t_us: int
    node: str
    peer: str
    rx_packets: int
    rx_bytes: int
    tx_packets: int
    tx_bytes: int
    rx_dropped: int
    tx_dropped: int
    def __init__(self, t_us: _Optional[int] = ..., node: _Optional[str] = ..., peer: _Optional[str] = ..., rx_packets: _Optional[int] = ..., rx_bytes: _Optional[int] = ..., tx_packets: _Optional[int] = ..., tx_bytes: _Optional[int] = ..., rx_dropped: _Optional[int] = ..., tx_dropped: _Optional[int] = ...) -> None: ...

class FlowCounter(_message.Message):
    __slots__ = ("t_us", "node", "target", "packets", "bytes", "peer")
    T_US_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    PACKETS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    t_us: int
    node: str
    target: str
    packets: int
    bytes: int
    peer: str
    def __init__(self, t_us: _Optional[int] = ..., node: _Optional[str] = ..., target: _Optional[str] = ..., packets: _Optional[int] = ..., bytes: _Optional[int] = ..., peer: _Optional[str] = ...) -> None: ...

class CaptureFile(_message.Message):
    __slots__ = ("file", "node", "interface", "packets", "dropped", "snap_length")
    FILE_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    INTERFACE_FIELD_NUMBER: _ClassVar[int]
    PACKETS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    SNAP_LENGTH_FIELD_NUMBER: _ClassVar[int]
    file: str
    node: str
    interface: str
    packets: int
    dropped: int
    snap_length: int
    def __init__(self, file: _Optional[str] = ..., node: _Optional[str] = ..., interface: _Optional[str] = ..., packets: _Optional[int] = ..., dropped: _Optional[int] = ..., snap_length: _Optional[int] = ...) -> None: ...

class ClockStep(_message.Message):
    __slots__ = ("t_us", "step_us")
    T_US_FIELD_NUMBER: _ClassVar[int]
    STEP_US_FIELD_NUMBER: _ClassVar[int]
    t_us: int
    step_us: int
    def __init__(self, t_us: _Optional[int] = ..., step_us: _Optional[int] = ...) -> None: ...

class Manifest(_message.Message):
    __slots__ = ("run", "name", "engine", "clock", "seed", "status", "reason", "started", "ended", "first_us", "last_us", "wall_seconds", "version", "commit", "dirty", "kernel", "versions", "hashes", "command", "captures", "warnings", "tls", "clock_steps")
    class VersionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class HashesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    RUN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    FIRST_US_FIELD_NUMBER: _ClassVar[int]
    LAST_US_FIELD_NUMBER: _ClassVar[int]
    WALL_SECONDS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    DIRTY_FIELD_NUMBER: _ClassVar[int]
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    HASHES_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    CAPTURES_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    TLS_FIELD_NUMBER: _ClassVar[int]
    CLOCK_STEPS_FIELD_NUMBER: _ClassVar[int]
    run: str
    name: str
    engine: str
    clock: str
    seed: int
    status: str
    reason: str
    started: str
    ended: str
    first_us: int
    last_us: int
    wall_seconds: float
    version: str
    commit: str
    dirty: bool
    kernel: str
    versions: _containers.ScalarMap[str, str]
    hashes: _containers.ScalarMap[str, str]
    command: str
    captures: _containers.RepeatedCompositeFieldContainer[CaptureFile]
    warnings: _containers.RepeatedScalarFieldContainer[str]
    tls: bool
    clock_steps: _containers.RepeatedCompositeFieldContainer[ClockStep]
    def __init__(self, run: _Optional[str] = ..., name: _Optional[str] = ..., engine: _Optional[str] = ..., clock: _Optional[str] = ..., seed: _Optional[int] = ..., status: _Optional[str] = ..., reason: _Optional[str] = ..., started: _Optional[str] = ..., ended: _Optional[str] = ..., first_us: _Optional[int] = ..., last_us: _Optional[int] = ..., wall_seconds: _Optional[float] = ..., version: _Optional[str] = ..., commit: _Optional[str] = ..., dirty: _Optional[bool] = ..., kernel: _Optional[str] = ..., versions: _Optional[_Mapping[str, str]] = ..., hashes: _Optional[_Mapping[str, str]] = ..., command: _Optional[str] = ..., captures: _Optional[_Iterable[_Union[CaptureFile, _Mapping]]] = ..., warnings: _Optional[_Iterable[str]] = ..., tls: _Optional[bool] = ..., clock_steps: _Optional[_Iterable[_Union[ClockStep, _Mapping]]] = ...) -> None: ...

class MessageType(_message.Message):
    __slots__ = ("number", "name", "sender", "settles", "purpose", "protocol")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    SETTLES_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    number: int
    name: str
    sender: str
    settles: bool
    purpose: str
    protocol: str
    def __init__(self, number: _Optional[int] = ..., name: _Optional[str] = ..., sender: _Optional[str] = ..., settles: _Optional[bool] = ..., purpose: _Optional[str] = ..., protocol: _Optional[str] = ...) -> None: ...

class RecordKind(_message.Message):
    __slots__ = ("number", "name")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    number: int
    name: str
    def __init__(self, number: _Optional[int] = ..., name: _Optional[str] = ...) -> None: ...

class Catalogue(_message.Message):
    __slots__ = ("messages", "kinds")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[MessageType]
    kinds: _containers.RepeatedCompositeFieldContainer[RecordKind]
    def __init__(self, messages: _Optional[_Iterable[_Union[MessageType, _Mapping]]] = ..., kinds: _Optional[_Iterable[_Union[RecordKind, _Mapping]]] = ...) -> None: ...

class Fidelity(_message.Message):
    __slots__ = ("verdict", "reason", "probes", "lost", "error_p50_us", "error_p95_us", "error_p99_us", "error_max_us", "limit_relative", "limit_us")
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PROBES_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    ERROR_P50_US_FIELD_NUMBER: _ClassVar[int]
    ERROR_P95_US_FIELD_NUMBER: _ClassVar[int]
    ERROR_P99_US_FIELD_NUMBER: _ClassVar[int]
    ERROR_MAX_US_FIELD_NUMBER: _ClassVar[int]
    LIMIT_RELATIVE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_US_FIELD_NUMBER: _ClassVar[int]
    verdict: str
    reason: str
    probes: int
    lost: int
    error_p50_us: float
    error_p95_us: float
    error_p99_us: float
    error_max_us: float
    limit_relative: float
    limit_us: float
    def __init__(self, verdict: _Optional[str] = ..., reason: _Optional[str] = ..., probes: _Optional[int] = ..., lost: _Optional[int] = ..., error_p50_us: _Optional[float] = ..., error_p95_us: _Optional[float] = ..., error_p99_us: _Optional[float] = ..., error_max_us: _Optional[float] = ..., limit_relative: _Optional[float] = ..., limit_us: _Optional[float] = ...) -> None: ...
