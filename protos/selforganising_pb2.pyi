from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Passed(_message.Message):
    __slots__ = ("broker", "processing", "link", "shared")
    BROKER_FIELD_NUMBER: _ClassVar[int]
    PROCESSING_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    SHARED_FIELD_NUMBER: _ClassVar[int]
    broker: str
    processing: float
    link: float
    shared: int
    def __init__(self, broker: _Optional[str] = ..., processing: _Optional[float] = ..., link: _Optional[float] = ..., shared: _Optional[int] = ...) -> None: ...

class InterestBroadcast(_message.Message):
    __slots__ = ("ttl", "filter", "path")
    TTL_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    ttl: int
    filter: bytes
    path: _containers.RepeatedCompositeFieldContainer[Passed]
    def __init__(self, ttl: _Optional[int] = ..., filter: _Optional[bytes] = ..., path: _Optional[_Iterable[_Union[Passed, _Mapping]]] = ...) -> None: ...

class LinkRequest(_message.Message):
    __slots__ = ("brokers", "processing", "links", "costs")
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    PROCESSING_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    COSTS_FIELD_NUMBER: _ClassVar[int]
    brokers: _containers.RepeatedScalarFieldContainer[str]
    processing: _containers.RepeatedScalarFieldContainer[float]
    links: _containers.RepeatedScalarFieldContainer[float]
    costs: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, brokers: _Optional[_Iterable[str]] = ..., processing: _Optional[_Iterable[float]] = ..., links: _Optional[_Iterable[float]] = ..., costs: _Optional[_Iterable[float]] = ...) -> None: ...
