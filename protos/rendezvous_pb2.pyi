from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class TreeJoin(_message.Message):
    __slots__ = ("plane", "topic", "member", "member_id")
    PLANE_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    MEMBER_ID_FIELD_NUMBER: _ClassVar[int]
    plane: int
    topic: str
    member: str
    member_id: int
    def __init__(self, plane: _Optional[int] = ..., topic: _Optional[str] = ..., member: _Optional[str] = ..., member_id: _Optional[int] = ...) -> None: ...

class TreeAttach(_message.Message):
    __slots__ = ("plane", "topic", "member", "member_id")
    PLANE_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    MEMBER_ID_FIELD_NUMBER: _ClassVar[int]
    plane: int
    topic: str
    member: str
    member_id: int
    def __init__(self, plane: _Optional[int] = ..., topic: _Optional[str] = ..., member: _Optional[str] = ..., member_id: _Optional[int] = ...) -> None: ...

class TreeLeave(_message.Message):
    __slots__ = ("plane", "topic", "member", "member_id")
    PLANE_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    MEMBER_ID_FIELD_NUMBER: _ClassVar[int]
    plane: int
    topic: str
    member: str
    member_id: int
    def __init__(self, plane: _Optional[int] = ..., topic: _Optional[str] = ..., member: _Optional[str] = ..., member_id: _Optional[int] = ...) -> None: ...

class TreeDetach(_message.Message):
    __slots__ = ("plane", "topic", "member")
    PLANE_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    plane: int
    topic: str
    member: str
    def __init__(self, plane: _Optional[int] = ..., topic: _Optional[str] = ..., member: _Optional[str] = ...) -> None: ...

class TreeHeartbeat(_message.Message):
    __slots__ = ("plane", "topics", "up")
    PLANE_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    UP_FIELD_NUMBER: _ClassVar[int]
    plane: int
    topics: _containers.RepeatedScalarFieldContainer[str]
    up: bool
    def __init__(self, plane: _Optional[int] = ..., topics: _Optional[_Iterable[str]] = ..., up: _Optional[bool] = ...) -> None: ...

class TreeHandover(_message.Message):
    __slots__ = ("plane", "topic", "parent")
    PLANE_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    plane: int
    topic: str
    parent: str
    def __init__(self, plane: _Optional[int] = ..., topic: _Optional[str] = ..., parent: _Optional[str] = ...) -> None: ...

class TreePrune(_message.Message):
    __slots__ = ("plane", "topic")
    PLANE_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    plane: int
    topic: str
    def __init__(self, plane: _Optional[int] = ..., topic: _Optional[str] = ...) -> None: ...
