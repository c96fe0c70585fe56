from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class SyncComplete(_message.Message):
    __slots__ = ("advertisements", "subscriptions")
    ADVERTISEMENTS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTIONS_FIELD_NUMBER: _ClassVar[int]
    advertisements: int
    subscriptions: int
    def __init__(self, advertisements: _Optional[int] = ..., subscriptions: _Optional[int] = ...) -> None: ...

class DiscoveryRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class BrokerInformation(_message.Message):
    __slots__ = ("request", "broker", "neighbours", "clients", "advertisements", "subscriptions")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    BROKER_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    CLIENTS_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENTS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTIONS_FIELD_NUMBER: _ClassVar[int]
    request: str
    broker: str
    neighbours: _containers.RepeatedScalarFieldContainer[str]
    clients: _containers.RepeatedScalarFieldContainer[str]
    advertisements: int
    subscriptions: int
    def __init__(self, request: _Optional[str] = ..., broker: _Optional[str] = ..., neighbours: _Optional[_Iterable[str]] = ..., clients: _Optional[_Iterable[str]] = ..., advertisements: _Optional[int] = ..., subscriptions: _Optional[int] = ...) -> None: ...
