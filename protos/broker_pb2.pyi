from protos import wire_pb2 as _wire_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StatusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class LinkStatus(_message.Message):
    __slots__ = ("peer", "up", "synced", "queued", "dropped")
    PEER_FIELD_NUMBER: _ClassVar[int]
    UP_FIELD_NUMBER: _ClassVar[int]
    SYNCED_FIELD_NUMBER: _ClassVar[int]
    QUEUED_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    peer: str
    up: bool
    synced: bool
    queued: int
    dropped: int
    def __init__(self, peer: _Optional[str] = ..., up: _Optional[bool] = ..., synced: _Optional[bool] = ..., queued: _Optional[int] = ..., dropped: _Optional[int] = ...) -> None: ...

class StatusAnswer(_message.Message):
    __slots__ = ("broker", "incarnation", "links", "clients", "advertisements", "subscriptions", "control_sent", "control_received", "publications", "deliveries", "dropped", "draining", "settled")
    BROKER_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    CLIENTS_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENTS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTIONS_FIELD_NUMBER: _ClassVar[int]
    CONTROL_SENT_FIELD_NUMBER: _ClassVar[int]
    CONTROL_RECEIVED_FIELD_NUMBER: _ClassVar[int]
    PUBLICATIONS_FIELD_NUMBER: _ClassVar[int]
    DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    SETTLED_FIELD_NUMBER: _ClassVar[int]
    broker: str
    incarnation: int
    links: _containers.RepeatedCompositeFieldContainer[LinkStatus]
    clients: int
    advertisements: int
    subscriptions: int
    control_sent: int
    control_received: int
    publications: int
    deliveries: int
    dropped: int
    draining: bool
    settled: bool
    def __init__(self, broker: _Optional[str] = ..., incarnation: _Optional[int] = ..., links: _Optional[_Iterable[_Union[LinkStatus, _Mapping]]] = ..., clients: _Optional[int] = ..., advertisements: _Optional[int] = ..., subscriptions: _Optional[int] = ..., control_sent: _Optional[int] = ..., control_received: _Optional[int] = ..., publications: _Optional[int] = ..., deliveries: _Optional[int] = ..., dropped: _Optional[int] = ..., draining: _Optional[bool] = ..., settled: _Optional[bool] = ...) -> None: ...

class DrainRequest(_message.Message):
    __slots__ = ("timeout_us",)
    TIMEOUT_US_FIELD_NUMBER: _ClassVar[int]
    timeout_us: int
    def __init__(self, timeout_us: _Optional[int] = ...) -> None: ...

class DrainAnswer(_message.Message):
    __slots__ = ("drained", "left")
    DRAINED_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    drained: bool
    left: int
    def __init__(self, drained: _Optional[bool] = ..., left: _Optional[int] = ...) -> None: ...

class ShutdownRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ShutdownAnswer(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
