from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Operator(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPERATOR_UNKNOWN: _ClassVar[Operator]
    EQ: _ClassVar[Operator]
    NEQ: _ClassVar[Operator]
    LT: _ClassVar[Operator]
    LE: _ClassVar[Operator]
    GT: _ClassVar[Operator]
    GE: _ClassVar[Operator]
    STR_PREFIX: _ClassVar[Operator]
    STR_POSTFIX: _ClassVar[Operator]
    STR_CONTAINS: _ClassVar[Operator]
    IS_PRESENT: _ClassVar[Operator]
OPERATOR_UNKNOWN: Operator
EQ: Operator
NEQ: Operator
LT: Operator
LE: Operator
GT: Operator
GE: Operator
STR_PREFIX: Operator
STR_POSTFIX: Operator
STR_CONTAINS: Operator
IS_PRESENT: Operator

class Value(_message.Message):
    __slots__ = ("text", "integer", "real")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    REAL_FIELD_NUMBER: _ClassVar[int]
    text: str
    integer: int
    real: float
    def __init__(self, text: _Optional[str] = ..., integer: _Optional[int] = ..., real: _Optional[float] = ...) -> None: ...

class Predicate(_message.Message):
    __slots__ = ("attribute", "operator", "value")
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    attribute: str
    operator: Operator
    value: Value
    def __init__(self, attribute: _Optional[str] = ..., operator: _Optional[_Union[Operator, str]] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
