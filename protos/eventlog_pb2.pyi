from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    KIND_UNKNOWN: _ClassVar[Kind]
    STARTED: _ClassVar[Kind]
    STOPPED: _ClassVar[Kind]
    LINK_UP: _ClassVar[Kind]
    LINK_DOWN: _ClassVar[Kind]
    CONNECTED: _ClassVar[Kind]
    DISCONNECTED: _ClassVar[Kind]
    ADVERTISED: _ClassVar[Kind]
    UNADVERTISED: _ClassVar[Kind]
    SUBSCRIBED: _ClassVar[Kind]
    UNSUBSCRIBED: _ClassVar[Kind]
    PUBLISHED: _ClassVar[Kind]
    DELIVERED: _ClassVar[Kind]
    FORWARDED: _ClassVar[Kind]
    NOTIFIED: _ClassVar[Kind]
    PROCESSED: _ClassVar[Kind]
    SENT: _ClassVar[Kind]
    RECEIVED: _ClassVar[Kind]
    DROPPED: _ClassVar[Kind]
    REFUSED: _ClassVar[Kind]
    MIGRATION_STARTED: _ClassVar[Kind]
    MIGRATED: _ClassVar[Kind]
    MIGRATION_ABORTED: _ClassVar[Kind]
    SELECTED: _ClassVar[Kind]
    SAMPLED: _ClassVar[Kind]
    PHASE_STARTED: _ClassVar[Kind]
    PHASE_READY: _ClassVar[Kind]
    FAULT_STARTED: _ClassVar[Kind]
    FAULT_ENDED: _ClassVar[Kind]
    CRASHED: _ClassVar[Kind]
    RUN_ENDED: _ClassVar[Kind]
KIND_UNKNOWN: Kind
STARTED: Kind
STOPPED: Kind
LINK_UP: Kind
LINK_DOWN: Kind
CONNECTED: Kind
DISCONNECTED: Kind
ADVERTISED: Kind
UNADVERTISED: Kind
SUBSCRIBED: Kind
UNSUBSCRIBED: Kind
PUBLISHED: Kind
DELIVERED: Kind
FORWARDED: Kind
NOTIFIED: Kind
PROCESSED: Kind
SENT: Kind
RECEIVED: Kind
DROPPED: Kind
REFUSED: Kind
MIGRATION_STARTED: Kind
MIGRATED: Kind
MIGRATION_ABORTED: Kind
SELECTED: Kind
SAMPLED: Kind
PHASE_STARTED: Kind
PHASE_READY: Kind
FAULT_STARTED: Kind
FAULT_ENDED: Kind
CRASHED: Kind
RUN_ENDED: Kind

class LogEvent(_message.Message):
    __slots__ = ("t_us", "n", "node", "kind", "type", "peer", "message", "hops", "bytes", "published_us", "queueing_us", "matching_us", "sending_us", "duration_us", "content", "group", "detail", "queue", "input_utilisation", "output_utilisation", "memory_bytes")
    T_US_FIELD_NUMBER: _ClassVar[int]
    N_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HOPS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    PUBLISHED_US_FIELD_NUMBER: _ClassVar[int]
    QUEUEING_US_FIELD_NUMBER: _ClassVar[int]
    MATCHING_US_FIELD_NUMBER: _ClassVar[int]
    SENDING_US_FIELD_NUMBER: _ClassVar[int]
    DURATION_US_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    INPUT_UTILISATION_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_UTILISATION_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    t_us: int
    n: int
    node: str
    kind: Kind
    type: str
    peer: str
    message: str
    hops: int
    bytes: int
    published_us: int
    queueing_us: int
    matching_us: int
    sending_us: int
    duration_us: int
    content: str
    group: str
    detail: str
    queue: int
    input_utilisation: float
    output_utilisation: float
    memory_bytes: int
    def __init__(self, t_us: _Optional[int] = ..., n: _Optional[int] = ..., node: _Optional[str] = ..., kind: _Optional[_Union[Kind, str]] = ..., type: _Optional[str] = ..., peer: _Optional[str] = ..., message: _Optional[str] = ..., hops: _Optional[int] = ..., bytes: _Optional[int] = ..., published_us: _Optional[int] = ..., queueing_us: _Optional[int] = ..., matching_us: _Optional[int] = ..., sending_us: _Optional[int] = ..., duration_us: _Optional[int] = ..., content: _Optional[str] = ..., group: _Optional[str] = ..., detail: _Optional[str] = ..., queue: _Optional[int] = ..., input_utilisation: _Optional[float] = ..., output_utilisation: _Optional[float] = ..., memory_bytes: _Optional[int] = ...) -> None: ...
