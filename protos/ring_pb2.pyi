from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RingMembers(_message.Message):
    __slots__ = ("ids", "brokers")
    IDS_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[int]
    brokers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, ids: _Optional[_Iterable[int]] = ..., brokers: _Optional[_Iterable[str]] = ...) -> None: ...

class RingNotify(_message.Message):
    __slots__ = ("plane", "place", "round", "known", "wants")
    PLANE_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    WANTS_FIELD_NUMBER: _ClassVar[int]
    plane: int
    place: int
    round: int
    known: RingMembers
    wants: bool
    def __init__(self, plane: _Optional[int] = ..., place: _Optional[int] = ..., round: _Optional[int] = ..., known: _Optional[_Union[RingMembers, _Mapping]] = ..., wants: _Optional[bool] = ...) -> None: ...

class RingState(_message.Message):
    __slots__ = ("plane", "place", "round", "known")
    PLANE_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    plane: int
    place: int
    round: int
    known: RingMembers
    def __init__(self, plane: _Optional[int] = ..., place: _Optional[int] = ..., round: _Optional[int] = ..., known: _Optional[_Union[RingMembers, _Mapping]] = ...) -> None: ...

class RingQuery(_message.Message):
    __slots__ = ("plane", "key", "number", "path", "joining")
    PLANE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    JOINING_FIELD_NUMBER: _ClassVar[int]
    plane: int
    key: int
    number: int
    path: _containers.RepeatedScalarFieldContainer[str]
    joining: bool
    def __init__(self, plane: _Optional[int] = ..., key: _Optional[int] = ..., number: _Optional[int] = ..., path: _Optional[_Iterable[str]] = ..., joining: _Optional[bool] = ...) -> None: ...

class RingAnswer(_message.Message):
    __slots__ = ("plane", "key", "number", "path", "known")
    PLANE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    plane: int
    key: int
    number: int
    path: _containers.RepeatedScalarFieldContainer[str]
    known: RingMembers
    def __init__(self, plane: _Optional[int] = ..., key: _Optional[int] = ..., number: _Optional[int] = ..., path: _Optional[_Iterable[str]] = ..., known: _Optional[_Union[RingMembers, _Mapping]] = ...) -> None: ...

class RingLeave(_message.Message):
    __slots__ = ("plane", "place", "known")
    PLANE_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    plane: int
    place: int
    known: RingMembers
    def __init__(self, plane: _Optional[int] = ..., place: _Optional[int] = ..., known: _Optional[_Union[RingMembers, _Mapping]] = ...) -> None: ...

class RingTaken(_message.Message):
    __slots__ = ("plane", "place", "holder")
    PLANE_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    plane: int
    place: int
    holder: str
    def __init__(self, plane: _Optional[int] = ..., place: _Optional[int] = ..., holder: _Optional[str] = ...) -> None: ...
