from protos import client_pb2 as _client_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ExchangePrepare(_message.Message):
    __slots__ = ("id", "number", "path", "cut")
    ID_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    CUT_FIELD_NUMBER: _ClassVar[int]
    id: str
    number: int
    path: _containers.RepeatedScalarFieldContainer[str]
    cut: int
    def __init__(self, id: _Optional[str] = ..., number: _Optional[int] = ..., path: _Optional[_Iterable[str]] = ..., cut: _Optional[int] = ...) -> None: ...

class ExchangeReady(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class AdvertisedRoute(_message.Message):
    __slots__ = ("advertisement", "hops")
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    HOPS_FIELD_NUMBER: _ClassVar[int]
    advertisement: _client_pb2.Advertisement
    hops: int
    def __init__(self, advertisement: _Optional[_Union[_client_pb2.Advertisement, _Mapping]] = ..., hops: _Optional[int] = ...) -> None: ...

class SubscribedRoute(_message.Message):
    __slots__ = ("subscription", "hops")
    SUBSCRIPTION_FIELD_NUMBER: _ClassVar[int]
    HOPS_FIELD_NUMBER: _ClassVar[int]
    subscription: _client_pb2.Subscription
    hops: int
    def __init__(self, subscription: _Optional[_Union[_client_pb2.Subscription, _Mapping]] = ..., hops: _Optional[int] = ...) -> None: ...

class ExchangeRoutes(_message.Message):
    __slots__ = ("id", "round", "last", "advertisements", "subscriptions")
    ID_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENTS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTIONS_FIELD_NUMBER: _ClassVar[int]
    id: str
    round: int
    last: bool
    advertisements: _containers.RepeatedCompositeFieldContainer[AdvertisedRoute]
    subscriptions: _containers.RepeatedCompositeFieldContainer[SubscribedRoute]
    def __init__(self, id: _Optional[str] = ..., round: _Optional[int] = ..., last: _Optional[bool] = ..., advertisements: _Optional[_Iterable[_Union[AdvertisedRoute, _Mapping]]] = ..., subscriptions: _Optional[_Iterable[_Union[SubscribedRoute, _Mapping]]] = ...) -> None: ...

class ExchangeFlip(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class ExchangeDrained(_message.Message):
    __slots__ = ("id", "back")
    ID_FIELD_NUMBER: _ClassVar[int]
    BACK_FIELD_NUMBER: _ClassVar[int]
    id: str
    back: bool
    def __init__(self, id: _Optional[str] = ..., back: _Optional[bool] = ...) -> None: ...

class ExchangeDone(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class ExchangeAbort(_message.Message):
    __slots__ = ("id", "decided", "refused", "reason")
    ID_FIELD_NUMBER: _ClassVar[int]
    DECIDED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    id: str
    decided: bool
    refused: bool
    reason: str
    def __init__(self, id: _Optional[str] = ..., decided: _Optional[bool] = ..., refused: _Optional[bool] = ..., reason: _Optional[str] = ...) -> None: ...

class ExchangeSearch(_message.Message):
    __slots__ = ("id", "target", "path", "found")
    ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    FOUND_FIELD_NUMBER: _ClassVar[int]
    id: str
    target: str
    path: _containers.RepeatedScalarFieldContainer[str]
    found: bool
    def __init__(self, id: _Optional[str] = ..., target: _Optional[str] = ..., path: _Optional[_Iterable[str]] = ..., found: _Optional[bool] = ...) -> None: ...
