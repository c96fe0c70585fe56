from protos import content_pb2 as _content_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Advertisement(_message.Message):
    __slots__ = ("id", "client", "predicates")
    ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    PREDICATES_FIELD_NUMBER: _ClassVar[int]
    id: str
    client: str
    predicates: _containers.RepeatedCompositeFieldContainer[_content_pb2.Predicate]
    def __init__(self, id: _Optional[str] = ..., client: _Optional[str] = ..., predicates: _Optional[_Iterable[_Union[_content_pb2.Predicate, _Mapping]]] = ...) -> None: ...

class Subscription(_message.Message):
    __slots__ = ("id", "client", "predicates")
    ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    PREDICATES_FIELD_NUMBER: _ClassVar[int]
    id: str
    client: str
    predicates: _containers.RepeatedCompositeFieldContainer[_content_pb2.Predicate]
    def __init__(self, id: _Optional[str] = ..., client: _Optional[str] = ..., predicates: _Optional[_Iterable[_Union[_content_pb2.Predicate, _Mapping]]] = ...) -> None: ...

class Unadvertisement(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class Unsubscription(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class Trace(_message.Message):
    __slots__ = ("counted", "session", "index")
    COUNTED_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    counted: bool
    session: str
    index: int
    def __init__(self, counted: _Optional[bool] = ..., session: _Optional[str] = ..., index: _Optional[int] = ...) -> None: ...

class Publication(_message.Message):
    __slots__ = ("id", "publisher", "advertisement", "published_us", "attributes", "payload", "trace", "plane", "leg")
    class AttributesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _content_pb2.Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_content_pb2.Value, _Mapping]] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    PUBLISHER_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    PUBLISHED_US_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    PLANE_FIELD_NUMBER: _ClassVar[int]
    LEG_FIELD_NUMBER: _ClassVar[int]
    id: str
    publisher: str
    advertisement: str
    published_us: int
    attributes: _containers.MessageMap[str, _content_pb2.Value]
    payload: bytes
    trace: Trace
    plane: int
    leg: int
    def __init__(self, id: _Optional[str] = ..., publisher: _Optional[str] = ..., advertisement: _Optional[str] = ..., published_us: _Optional[int] = ..., attributes: _Optional[_Mapping[str, _content_pb2.Value]] = ..., payload: _Optional[bytes] = ..., trace: _Optional[_Union[Trace, _Mapping]] = ..., plane: _Optional[int] = ..., leg: _Optional[int] = ...) -> None: ...

class Redirect(_message.Message):
    __slots__ = ("broker", "address")
    BROKER_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    broker: str
    address: str
    def __init__(self, broker: _Optional[str] = ..., address: _Optional[str] = ...) -> None: ...
