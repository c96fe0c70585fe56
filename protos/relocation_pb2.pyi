from protos import client_pb2 as _client_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TraceResult(_message.Message):
    __slots__ = ("advertisement", "publication", "subscribers")
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    PUBLICATION_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBERS_FIELD_NUMBER: _ClassVar[int]
    advertisement: str
    publication: str
    subscribers: int
    def __init__(self, advertisement: _Optional[str] = ..., publication: _Optional[str] = ..., subscribers: _Optional[int] = ...) -> None: ...

class RelocationRequest(_message.Message):
    __slots__ = ("advertisement", "subscribers", "brokers")
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBERS_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    advertisement: str
    subscribers: float
    brokers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, advertisement: _Optional[str] = ..., subscribers: _Optional[float] = ..., brokers: _Optional[_Iterable[str]] = ...) -> None: ...

class RelocationAnswer(_message.Message):
    __slots__ = ("advertisement", "brokers")
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    advertisement: str
    brokers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, advertisement: _Optional[str] = ..., brokers: _Optional[_Iterable[str]] = ...) -> None: ...

class TraceInformationRequest(_message.Message):
    __slots__ = ("advertisement", "session")
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    advertisement: str
    session: str
    def __init__(self, advertisement: _Optional[str] = ..., session: _Optional[str] = ...) -> None: ...

class NeighbourDelay(_message.Message):
    __slots__ = ("neighbour", "output_queueing_us")
    NEIGHBOUR_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_QUEUEING_US_FIELD_NUMBER: _ClassVar[int]
    neighbour: str
    output_queueing_us: int
    def __init__(self, neighbour: _Optional[str] = ..., output_queueing_us: _Optional[int] = ...) -> None: ...

class BrokerTrace(_message.Message):
    __slots__ = ("broker", "neighbours", "delivered", "deliveries", "input_queueing_us", "matching_us", "outputs")
    BROKER_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    DELIVERED_FIELD_NUMBER: _ClassVar[int]
    DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    INPUT_QUEUEING_US_FIELD_NUMBER: _ClassVar[int]
    MATCHING_US_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    broker: str
    neighbours: _containers.RepeatedScalarFieldContainer[str]
    delivered: bytes
    deliveries: int
    input_queueing_us: int
    matching_us: int
    outputs: _containers.RepeatedCompositeFieldContainer[NeighbourDelay]
    def __init__(self, broker: _Optional[str] = ..., neighbours: _Optional[_Iterable[str]] = ..., delivered: _Optional[bytes] = ..., deliveries: _Optional[int] = ..., input_queueing_us: _Optional[int] = ..., matching_us: _Optional[int] = ..., outputs: _Optional[_Iterable[_Union[NeighbourDelay, _Mapping]]] = ...) -> None: ...

class TraceInformationAnswer(_message.Message):
    __slots__ = ("advertisement", "session", "brokers")
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    advertisement: str
    session: str
    brokers: _containers.RepeatedCompositeFieldContainer[BrokerTrace]
    def __init__(self, advertisement: _Optional[str] = ..., session: _Optional[str] = ..., brokers: _Optional[_Iterable[_Union[BrokerTrace, _Mapping]]] = ...) -> None: ...

class PingRequest(_message.Message):
    __slots__ = ("advertisement", "brokers")
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    advertisement: str
    brokers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, advertisement: _Optional[str] = ..., brokers: _Optional[_Iterable[str]] = ...) -> None: ...

class BrokerRtt(_message.Message):
    __slots__ = ("broker", "rtt_us")
    BROKER_FIELD_NUMBER: _ClassVar[int]
    RTT_US_FIELD_NUMBER: _ClassVar[int]
    broker: str
    rtt_us: int
    def __init__(self, broker: _Optional[str] = ..., rtt_us: _Optional[int] = ...) -> None: ...

class PingAnswer(_message.Message):
    __slots__ = ("advertisement", "rtts")
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    RTTS_FIELD_NUMBER: _ClassVar[int]
    advertisement: str
    rtts: _containers.RepeatedCompositeFieldContainer[BrokerRtt]
    def __init__(self, advertisement: _Optional[str] = ..., rtts: _Optional[_Iterable[_Union[BrokerRtt, _Mapping]]] = ...) -> None: ...

class MigrationOrder(_message.Message):
    __slots__ = ("migration", "advertisement", "brokers", "target_address")
    MIGRATION_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    TARGET_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    migration: str
    advertisement: str
    brokers: _containers.RepeatedScalarFieldContainer[str]
    target_address: str
    def __init__(self, migration: _Optional[str] = ..., advertisement: _Optional[str] = ..., brokers: _Optional[_Iterable[str]] = ..., target_address: _Optional[str] = ...) -> None: ...

class MigrationPaused(_message.Message):
    __slots__ = ("migration", "advertisement")
    MIGRATION_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    migration: str
    advertisement: str
    def __init__(self, migration: _Optional[str] = ..., advertisement: _Optional[str] = ...) -> None: ...

class MigrationAdvertisement(_message.Message):
    __slots__ = ("migration", "advertisement", "brokers")
    MIGRATION_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    migration: str
    advertisement: _client_pb2.Advertisement
    brokers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, migration: _Optional[str] = ..., advertisement: _Optional[_Union[_client_pb2.Advertisement, _Mapping]] = ..., brokers: _Optional[_Iterable[str]] = ...) -> None: ...

class MigrationUpdate(_message.Message):
    __slots__ = ("migration", "advertisement", "brokers")
    MIGRATION_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    migration: str
    advertisement: _client_pb2.Advertisement
    brokers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, migration: _Optional[str] = ..., advertisement: _Optional[_Union[_client_pb2.Advertisement, _Mapping]] = ..., brokers: _Optional[_Iterable[str]] = ...) -> None: ...

class MigrationComplete(_message.Message):
    __slots__ = ("migration", "advertisement", "brokers")
    MIGRATION_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    migration: str
    advertisement: str
    brokers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, migration: _Optional[str] = ..., advertisement: _Optional[str] = ..., brokers: _Optional[_Iterable[str]] = ...) -> None: ...

class MigrationAbort(_message.Message):
    __slots__ = ("migration", "advertisement", "brokers", "reason")
    MIGRATION_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    migration: str
    advertisement: str
    brokers: _containers.RepeatedScalarFieldContainer[str]
    reason: str
    def __init__(self, migration: _Optional[str] = ..., advertisement: _Optional[str] = ..., brokers: _Optional[_Iterable[str]] = ..., reason: _Optional[str] = ...) -> None: ...

class MigrationResume(_message.Message):
    __slots__ = ("migration", "advertisement", "broker")
    MIGRATION_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    BROKER_FIELD_NUMBER: _ClassVar[int]
    migration: str
    advertisement: str
    broker: str
    def __init__(self, migration: _Optional[str] = ..., advertisement: _Optional[str] = ..., broker: _Optional[str] = ...) -> None: ...
