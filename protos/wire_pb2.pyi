from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class Envelope(_message.Message):
    __slots__ = ("version", "hops", "request")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    HOPS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    version: int
    hops: int
    request: int
    def __init__(self, version: _Optional[int] = ..., hops: _Optional[int] = ..., request: _Optional[int] = ...) -> None: ...
