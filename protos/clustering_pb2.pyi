from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Change(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CREATED: _ClassVar[Change]
    RESUBSCRIBE: _ClassVar[Change]
    TOPIC_ADDED: _ClassVar[Change]
    TOPIC_REMOVED: _ClassVar[Change]
    DESTROYED: _ClassVar[Change]
CREATED: Change
RESUBSCRIBE: Change
TOPIC_ADDED: Change
TOPIC_REMOVED: Change
DESTROYED: Change

class Party(_message.Message):
    __slots__ = ("topic", "cluster", "user", "broker")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    BROKER_FIELD_NUMBER: _ClassVar[int]
    topic: str
    cluster: int
    user: str
    broker: str
    def __init__(self, topic: _Optional[str] = ..., cluster: _Optional[int] = ..., user: _Optional[str] = ..., broker: _Optional[str] = ...) -> None: ...

class TopicRate(_message.Message):
    __slots__ = ("topic", "frequency")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    FREQUENCY_FIELD_NUMBER: _ClassVar[int]
    topic: str
    frequency: float
    def __init__(self, topic: _Optional[str] = ..., frequency: _Optional[float] = ...) -> None: ...

class ClusterInfo(_message.Message):
    __slots__ = ("cluster", "topics", "size")
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    cluster: int
    topics: _containers.RepeatedCompositeFieldContainer[TopicRate]
    size: int
    def __init__(self, cluster: _Optional[int] = ..., topics: _Optional[_Iterable[_Union[TopicRate, _Mapping]]] = ..., size: _Optional[int] = ...) -> None: ...

class AssociatedQuery(_message.Message):
    __slots__ = ("to", "sender")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ...) -> None: ...

class AssociatedAnswer(_message.Message):
    __slots__ = ("to", "sender", "frequency", "clusters")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    FREQUENCY_FIELD_NUMBER: _ClassVar[int]
    CLUSTERS_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    frequency: float
    clusters: _containers.RepeatedCompositeFieldContainer[ClusterInfo]
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ..., frequency: _Optional[float] = ..., clusters: _Optional[_Iterable[_Union[ClusterInfo, _Mapping]]] = ...) -> None: ...

class ChannelJoin(_message.Message):
    __slots__ = ("to", "sender", "again", "known")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    AGAIN_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    again: bool
    known: _containers.RepeatedCompositeFieldContainer[TopicRate]
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ..., again: _Optional[bool] = ..., known: _Optional[_Iterable[_Union[TopicRate, _Mapping]]] = ...) -> None: ...

class ChannelJoined(_message.Message):
    __slots__ = ("to", "sender", "frequency", "topics", "size")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    FREQUENCY_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    frequency: float
    topics: _containers.RepeatedCompositeFieldContainer[TopicRate]
    size: int
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ..., frequency: _Optional[float] = ..., topics: _Optional[_Iterable[_Union[TopicRate, _Mapping]]] = ..., size: _Optional[int] = ...) -> None: ...

class ChannelLeave(_message.Message):
    __slots__ = ("to", "sender")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ...) -> None: ...

class ClusterGone(_message.Message):
    __slots__ = ("to", "sender", "successor")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    SUCCESSOR_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    successor: int
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ..., successor: _Optional[int] = ...) -> None: ...

class InterestChanged(_message.Message):
    __slots__ = ("to", "sender", "topic", "wanted", "frequency", "size")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    WANTED_FIELD_NUMBER: _ClassVar[int]
    FREQUENCY_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    topic: str
    wanted: bool
    frequency: float
    size: int
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ..., topic: _Optional[str] = ..., wanted: _Optional[bool] = ..., frequency: _Optional[float] = ..., size: _Optional[int] = ...) -> None: ...

class Survey(_message.Message):
    __slots__ = ("to", "sender", "number", "topic")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    number: int
    topic: str
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ..., number: _Optional[int] = ..., topic: _Optional[str] = ...) -> None: ...

class SurveyAnswer(_message.Message):
    __slots__ = ("to", "sender", "number", "holds", "interested")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    INTERESTED_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    number: int
    holds: bool
    interested: bool
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ..., number: _Optional[int] = ..., holds: _Optional[bool] = ..., interested: _Optional[bool] = ...) -> None: ...

class OverlapAnswer(_message.Message):
    __slots__ = ("to", "sender", "number", "topics", "clusters")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    CLUSTERS_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    number: int
    topics: _containers.RepeatedScalarFieldContainer[str]
    clusters: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ..., number: _Optional[int] = ..., topics: _Optional[_Iterable[str]] = ..., clusters: _Optional[_Iterable[int]] = ...) -> None: ...

class ClusterAssociated(_message.Message):
    __slots__ = ("to", "sender", "cluster", "asks")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    ASKS_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    cluster: ClusterInfo
    asks: bool
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ..., cluster: _Optional[_Union[ClusterInfo, _Mapping]] = ..., asks: _Optional[bool] = ...) -> None: ...

class AssociationChanged(_message.Message):
    __slots__ = ("to", "sender", "frequency", "removed")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    FREQUENCY_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    frequency: float
    removed: bool
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ..., frequency: _Optional[float] = ..., removed: _Optional[bool] = ...) -> None: ...

class MergeProposal(_message.Message):
    __slots__ = ("to", "sender", "topics", "size", "users")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    USERS_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    topics: _containers.RepeatedCompositeFieldContainer[TopicRate]
    size: int
    users: float
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ..., topics: _Optional[_Iterable[_Union[TopicRate, _Mapping]]] = ..., size: _Optional[int] = ..., users: _Optional[float] = ...) -> None: ...

class MergeAnswer(_message.Message):
    __slots__ = ("to", "sender", "cluster", "done")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    cluster: int
    done: bool
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ..., cluster: _Optional[int] = ..., done: _Optional[bool] = ...) -> None: ...

class ClusterChanged(_message.Message):
    __slots__ = ("to", "sender", "change", "cluster", "topics")
    TO_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    to: Party
    sender: Party
    change: Change
    cluster: int
    topics: _containers.RepeatedCompositeFieldContainer[TopicRate]
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., sender: _Optional[_Union[Party, _Mapping]] = ..., change: _Optional[_Union[Change, str]] = ..., cluster: _Optional[int] = ..., topics: _Optional[_Iterable[_Union[TopicRate, _Mapping]]] = ...) -> None: ...

class ChannelState(_message.Message):
    __slots__ = ("to", "state", "members", "topics", "coming", "clusters", "frequency", "drawn", "made", "successor")
    TO_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    COMING_FIELD_NUMBER: _ClassVar[int]
    CLUSTERS_FIELD_NUMBER: _ClassVar[int]
    FREQUENCY_FIELD_NUMBER: _ClassVar[int]
    DRAWN_FIELD_NUMBER: _ClassVar[int]
    MADE_FIELD_NUMBER: _ClassVar[int]
    SUCCESSOR_FIELD_NUMBER: _ClassVar[int]
    to: Party
    state: str
    members: _containers.RepeatedCompositeFieldContainer[Party]
    topics: _containers.RepeatedCompositeFieldContainer[TopicRate]
    coming: _containers.RepeatedCompositeFieldContainer[TopicRate]
    clusters: _containers.RepeatedCompositeFieldContainer[ClusterInfo]
    frequency: float
    drawn: int
    made: int
    successor: int
    def __init__(self, to: _Optional[_Union[Party, _Mapping]] = ..., state: _Optional[str] = ..., members: _Optional[_Iterable[_Union[Party, _Mapping]]] = ..., topics: _Optional[_Iterable[_Union[TopicRate, _Mapping]]] = ..., coming: _Optional[_Iterable[_Union[TopicRate, _Mapping]]] = ..., clusters: _Optional[_Iterable[_Union[ClusterInfo, _Mapping]]] = ..., frequency: _Optional[float] = ..., drawn: _Optional[int] = ..., made: _Optional[int] = ..., successor: _Optional[int] = ...) -> None: ...
