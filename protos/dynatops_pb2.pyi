from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ClusterView(_message.Message):
    __slots__ = ("topics", "subscriptions")
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTIONS_FIELD_NUMBER: _ClassVar[int]
    topics: _containers.RepeatedScalarFieldContainer[str]
    subscriptions: int
    def __init__(self, topics: _Optional[_Iterable[str]] = ..., subscriptions: _Optional[int] = ...) -> None: ...

class UserSent(_message.Message):
    __slots__ = ("client",)
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    client: str
    def __init__(self, client: _Optional[str] = ...) -> None: ...

class ReportRequest(_message.Message):
    __slots__ = ("period",)
    PERIOD_FIELD_NUMBER: _ClassVar[int]
    period: int
    def __init__(self, period: _Optional[int] = ...) -> None: ...

class TopicEvents(_message.Message):
    __slots__ = ("topic", "published")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    PUBLISHED_FIELD_NUMBER: _ClassVar[int]
    topic: str
    published: int
    def __init__(self, topic: _Optional[str] = ..., published: _Optional[int] = ...) -> None: ...

class PeriodReport(_message.Message):
    __slots__ = ("period", "subscribed", "published", "peers", "rtts_us")
    PERIOD_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBED_FIELD_NUMBER: _ClassVar[int]
    PUBLISHED_FIELD_NUMBER: _ClassVar[int]
    PEERS_FIELD_NUMBER: _ClassVar[int]
    RTTS_US_FIELD_NUMBER: _ClassVar[int]
    period: int
    subscribed: _containers.RepeatedScalarFieldContainer[str]
    published: _containers.RepeatedCompositeFieldContainer[TopicEvents]
    peers: _containers.RepeatedScalarFieldContainer[str]
    rtts_us: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, period: _Optional[int] = ..., subscribed: _Optional[_Iterable[str]] = ..., published: _Optional[_Iterable[_Union[TopicEvents, _Mapping]]] = ..., peers: _Optional[_Iterable[str]] = ..., rtts_us: _Optional[_Iterable[int]] = ...) -> None: ...

class RcfgStatus(_message.Message):
    __slots__ = ("version", "latest", "next", "step", "brokers", "ids")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    LATEST_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    version: int
    latest: int
    next: int
    step: int
    brokers: _containers.RepeatedScalarFieldContainer[str]
    ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, version: _Optional[int] = ..., latest: _Optional[int] = ..., next: _Optional[int] = ..., step: _Optional[int] = ..., brokers: _Optional[_Iterable[str]] = ..., ids: _Optional[_Iterable[int]] = ...) -> None: ...

class RcfgInit(_message.Message):
    __slots__ = ("version", "base")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    version: int
    base: int
    def __init__(self, version: _Optional[int] = ..., base: _Optional[int] = ...) -> None: ...

class RcfgOverlay(_message.Message):
    __slots__ = ("version", "brokers", "ids")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    version: int
    brokers: _containers.RepeatedScalarFieldContainer[str]
    ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, version: _Optional[int] = ..., brokers: _Optional[_Iterable[str]] = ..., ids: _Optional[_Iterable[int]] = ...) -> None: ...

class RcfgPubsub(_message.Message):
    __slots__ = ("version", "part")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    version: int
    part: int
    def __init__(self, version: _Optional[int] = ..., part: _Optional[int] = ...) -> None: ...

class LogicalTopic(_message.Message):
    __slots__ = ("topic", "root", "subscribed", "attached", "parent", "members", "via")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    ROOT_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBED_FIELD_NUMBER: _ClassVar[int]
    ATTACHED_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    VIA_FIELD_NUMBER: _ClassVar[int]
    topic: str
    root: bool
    subscribed: bool
    attached: bool
    parent: _containers.RepeatedScalarFieldContainer[int]
    members: _containers.RepeatedScalarFieldContainer[int]
    via: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, topic: _Optional[str] = ..., root: _Optional[bool] = ..., subscribed: _Optional[bool] = ..., attached: _Optional[bool] = ..., parent: _Optional[_Iterable[int]] = ..., members: _Optional[_Iterable[int]] = ..., via: _Optional[_Iterable[int]] = ...) -> None: ...

class TopicTableTransfer(_message.Message):
    __slots__ = ("version", "key", "number", "parts", "topics")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    version: int
    key: int
    number: int
    parts: int
    topics: _containers.RepeatedCompositeFieldContainer[LogicalTopic]
    def __init__(self, version: _Optional[int] = ..., key: _Optional[int] = ..., number: _Optional[int] = ..., parts: _Optional[int] = ..., topics: _Optional[_Iterable[_Union[LogicalTopic, _Mapping]]] = ...) -> None: ...

class RcfgFinish(_message.Message):
    __slots__ = ("version",)
    VERSION_FIELD_NUMBER: _ClassVar[int]
    version: int
    def __init__(self, version: _Optional[int] = ...) -> None: ...

class RcfgRetire(_message.Message):
    __slots__ = ("version",)
    VERSION_FIELD_NUMBER: _ClassVar[int]
    version: int
    def __init__(self, version: _Optional[int] = ...) -> None: ...

class RcfgAbort(_message.Message):
    __slots__ = ("version",)
    VERSION_FIELD_NUMBER: _ClassVar[int]
    version: int
    def __init__(self, version: _Optional[int] = ...) -> None: ...

class RcfgDone(_message.Message):
    __slots__ = ("version", "step", "messages", "error")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    version: int
    step: int
    messages: int
    error: str
    def __init__(self, version: _Optional[int] = ..., step: _Optional[int] = ..., messages: _Optional[int] = ..., error: _Optional[str] = ...) -> None: ...

class RcfgAdopt(_message.Message):
    __slots__ = ("version", "brokers", "ids")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    version: int
    brokers: _containers.RepeatedScalarFieldContainer[str]
    ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, version: _Optional[int] = ..., brokers: _Optional[_Iterable[str]] = ..., ids: _Optional[_Iterable[int]] = ...) -> None: ...
