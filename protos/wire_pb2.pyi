from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
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

class PeerKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PEER_KIND_UNKNOWN: _ClassVar[PeerKind]
    BROKER: _ClassVar[PeerKind]
    CLIENT: _ClassVar[PeerKind]
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
PEER_KIND_UNKNOWN: PeerKind
BROKER: PeerKind
CLIENT: PeerKind

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

class Advertisement(_message.Message):
    __slots__ = ("id", "client", "predicates")
    ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    PREDICATES_FIELD_NUMBER: _ClassVar[int]
    id: str
    client: str
    predicates: _containers.RepeatedCompositeFieldContainer[Predicate]
    def __init__(self, id: _Optional[str] = ..., client: _Optional[str] = ..., predicates: _Optional[_Iterable[_Union[Predicate, _Mapping]]] = ...) -> None: ...

class Subscription(_message.Message):
    __slots__ = ("id", "client", "predicates")
    ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    PREDICATES_FIELD_NUMBER: _ClassVar[int]
    id: str
    client: str
    predicates: _containers.RepeatedCompositeFieldContainer[Predicate]
    def __init__(self, id: _Optional[str] = ..., client: _Optional[str] = ..., predicates: _Optional[_Iterable[_Union[Predicate, _Mapping]]] = ...) -> None: ...

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
    __slots__ = ("id", "publisher", "advertisement", "published_us", "attributes", "payload", "trace")
    class AttributesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    PUBLISHER_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    PUBLISHED_US_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    id: str
    publisher: str
    advertisement: str
    published_us: int
    attributes: _containers.MessageMap[str, Value]
    payload: bytes
    trace: Trace
    def __init__(self, id: _Optional[str] = ..., publisher: _Optional[str] = ..., advertisement: _Optional[str] = ..., published_us: _Optional[int] = ..., attributes: _Optional[_Mapping[str, Value]] = ..., payload: _Optional[bytes] = ..., trace: _Optional[_Union[Trace, _Mapping]] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("id", "kind", "version", "incarnation")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: PeerKind
    version: int
    incarnation: int
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[_Union[PeerKind, str]] = ..., version: _Optional[int] = ..., incarnation: _Optional[int] = ...) -> None: ...

class Refusal(_message.Message):
    __slots__ = ("reason", "detail")
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    reason: str
    detail: str
    def __init__(self, reason: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class Heartbeat(_message.Message):
    __slots__ = ("sequence",)
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    def __init__(self, sequence: _Optional[int] = ...) -> None: ...

class HeartbeatAnswer(_message.Message):
    __slots__ = ("sequence",)
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    def __init__(self, sequence: _Optional[int] = ...) -> None: ...

class SyncComplete(_message.Message):
    __slots__ = ("advertisements", "subscriptions")
    ADVERTISEMENTS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTIONS_FIELD_NUMBER: _ClassVar[int]
    advertisements: int
    subscriptions: int
    def __init__(self, advertisements: _Optional[int] = ..., subscriptions: _Optional[int] = ...) -> None: ...

class Ack(_message.Message):
    __slots__ = ("id", "error")
    ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    id: str
    error: str
    def __init__(self, id: _Optional[str] = ..., error: _Optional[str] = ...) -> None: ...

class DiscoveryRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class BrokerInformation(_message.Message):
    __slots__ = ("request", "broker", "neighbours", "clients", "advertisements", "subscriptions")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    BROKER_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    CLIENTS_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENTS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTIONS_FIELD_NUMBER: _ClassVar[int]
    request: str
    broker: str
    neighbours: _containers.RepeatedScalarFieldContainer[str]
    clients: _containers.RepeatedScalarFieldContainer[str]
    advertisements: int
    subscriptions: int
    def __init__(self, request: _Optional[str] = ..., broker: _Optional[str] = ..., neighbours: _Optional[_Iterable[str]] = ..., clients: _Optional[_Iterable[str]] = ..., advertisements: _Optional[int] = ..., subscriptions: _Optional[int] = ...) -> None: ...

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

class Probe(_message.Message):
    __slots__ = ("sequence",)
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    def __init__(self, sequence: _Optional[int] = ...) -> None: ...

class ProbeAnswer(_message.Message):
    __slots__ = ("sequence",)
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    def __init__(self, sequence: _Optional[int] = ...) -> None: ...

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
    advertisement: Advertisement
    brokers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, migration: _Optional[str] = ..., advertisement: _Optional[_Union[Advertisement, _Mapping]] = ..., brokers: _Optional[_Iterable[str]] = ...) -> None: ...

class MigrationUpdate(_message.Message):
    __slots__ = ("migration", "advertisement", "brokers")
    MIGRATION_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    migration: str
    advertisement: Advertisement
    brokers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, migration: _Optional[str] = ..., advertisement: _Optional[_Union[Advertisement, _Mapping]] = ..., brokers: _Optional[_Iterable[str]] = ...) -> None: ...

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

class TopicInterest(_message.Message):
    __slots__ = ("topics", "links")
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    topics: _containers.RepeatedScalarFieldContainer[str]
    links: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, topics: _Optional[_Iterable[str]] = ..., links: _Optional[_Iterable[str]] = ...) -> None: ...

class OverlayOrder(_message.Message):
    __slots__ = ("epoch", "neighbours")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    neighbours: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, epoch: _Optional[int] = ..., neighbours: _Optional[_Iterable[str]] = ...) -> None: ...

class OverlayReport(_message.Message):
    __slots__ = ("epoch", "links")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    links: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, epoch: _Optional[int] = ..., links: _Optional[_Iterable[str]] = ...) -> None: ...

class Farewell(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class Envelope(_message.Message):
    __slots__ = ("version", "hops", "request", "hello", "refusal", "heartbeat", "heartbeat_answer", "sync_complete", "ack", "advertisement", "subscription", "publication", "unadvertisement", "unsubscription", "discovery_request", "broker_information", "trace_result", "relocation_request", "relocation_answer", "trace_information_request", "trace_information_answer", "ping_request", "ping_answer", "probe", "probe_answer", "migration_order", "migration_advertisement", "migration_update", "migration_complete", "migration_abort", "migration_resume", "migration_paused", "topic_interest", "overlay_order", "overlay_report", "farewell")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    HOPS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_ANSWER_FIELD_NUMBER: _ClassVar[int]
    SYNC_COMPLETE_FIELD_NUMBER: _ClassVar[int]
    ACK_FIELD_NUMBER: _ClassVar[int]
    ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PUBLICATION_FIELD_NUMBER: _ClassVar[int]
    UNADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    UNSUBSCRIPTION_FIELD_NUMBER: _ClassVar[int]
    DISCOVERY_REQUEST_FIELD_NUMBER: _ClassVar[int]
    BROKER_INFORMATION_FIELD_NUMBER: _ClassVar[int]
    TRACE_RESULT_FIELD_NUMBER: _ClassVar[int]
    RELOCATION_REQUEST_FIELD_NUMBER: _ClassVar[int]
    RELOCATION_ANSWER_FIELD_NUMBER: _ClassVar[int]
    TRACE_INFORMATION_REQUEST_FIELD_NUMBER: _ClassVar[int]
    TRACE_INFORMATION_ANSWER_FIELD_NUMBER: _ClassVar[int]
    PING_REQUEST_FIELD_NUMBER: _ClassVar[int]
    PING_ANSWER_FIELD_NUMBER: _ClassVar[int]
    PROBE_FIELD_NUMBER: _ClassVar[int]
    PROBE_ANSWER_FIELD_NUMBER: _ClassVar[int]
    MIGRATION_ORDER_FIELD_NUMBER: _ClassVar[int]
    MIGRATION_ADVERTISEMENT_FIELD_NUMBER: _ClassVar[int]
    MIGRATION_UPDATE_FIELD_NUMBER: _ClassVar[int]
    MIGRATION_COMPLETE_FIELD_NUMBER: _ClassVar[int]
    MIGRATION_ABORT_FIELD_NUMBER: _ClassVar[int]
    MIGRATION_RESUME_FIELD_NUMBER: _ClassVar[int]
    MIGRATION_PAUSED_FIELD_NUMBER: _ClassVar[int]
    TOPIC_INTEREST_FIELD_NUMBER: _ClassVar[int]
    OVERLAY_ORDER_FIELD_NUMBER: _ClassVar[int]
    OVERLAY_REPORT_FIELD_NUMBER: _ClassVar[int]
    FAREWELL_FIELD_NUMBER: _ClassVar[int]
    version: int
    hops: int
    request: int
    hello: Hello
    refusal: Refusal
    heartbeat: Heartbeat
    heartbeat_answer: HeartbeatAnswer
    sync_complete: SyncComplete
    ack: Ack
    advertisement: Advertisement
    subscription: Subscription
    publication: Publication
    unadvertisement: Unadvertisement
    unsubscription: Unsubscription
    discovery_request: DiscoveryRequest
    broker_information: BrokerInformation
    trace_result: TraceResult
    relocation_request: RelocationRequest
    relocation_answer: RelocationAnswer
    trace_information_request: TraceInformationRequest
    trace_information_answer: TraceInformationAnswer
    ping_request: PingRequest
    ping_answer: PingAnswer
    probe: Probe
    probe_answer: ProbeAnswer
    migration_order: MigrationOrder
    migration_advertisement: MigrationAdvertisement
    migration_update: MigrationUpdate
    migration_complete: MigrationComplete
    migration_abort: MigrationAbort
    migration_resume: MigrationResume
    migration_paused: MigrationPaused
    topic_interest: TopicInterest
    overlay_order: OverlayOrder
    overlay_report: OverlayReport
    farewell: Farewell
    def __init__(self, version: _Optional[int] = ..., hops: _Optional[int] = ..., request: _Optional[int] = ..., hello: _Optional[_Union[Hello, _Mapping]] = ..., refusal: _Optional[_Union[Refusal, _Mapping]] = ..., heartbeat: _Optional[_Union[Heartbeat, _Mapping]] = ..., heartbeat_answer: _Optional[_Union[HeartbeatAnswer, _Mapping]] = ..., sync_complete: _Optional[_Union[SyncComplete, _Mapping]] = ..., ack: _Optional[_Union[Ack, _Mapping]] = ..., advertisement: _Optional[_Union[Advertisement, _Mapping]] = ..., subscription: _Optional[_Union[Subscription, _Mapping]] = ..., publication: _Optional[_Union[Publication, _Mapping]] = ..., unadvertisement: _Optional[_Union[Unadvertisement, _Mapping]] = ..., unsubscription: _Optional[_Union[Unsubscription, _Mapping]] = ..., discovery_request: _Optional[_Union[DiscoveryRequest, _Mapping]] = ..., broker_information: _Optional[_Union[BrokerInformation, _Mapping]] = ..., trace_result: _Optional[_Union[TraceResult, _Mapping]] = ..., relocation_request: _Optional[_Union[RelocationRequest, _Mapping]] = ..., relocation_answer: _Optional[_Union[RelocationAnswer, _Mapping]] = ..., trace_information_request: _Optional[_Union[TraceInformationRequest, _Mapping]] = ..., trace_information_answer: _Optional[_Union[TraceInformationAnswer, _Mapping]] = ..., ping_request: _Optional[_Union[PingRequest, _Mapping]] = ..., ping_answer: _Optional[_Union[PingAnswer, _Mapping]] = ..., probe: _Optional[_Union[Probe, _Mapping]] = ..., probe_answer: _Optional[_Union[ProbeAnswer, _Mapping]] = ..., migration_order: _Optional[_Union[MigrationOrder, _Mapping]] = ..., migration_advertisement: _Optional[_Union[MigrationAdvertisement, _Mapping]] = ..., migration_update: _Optional[_Union[MigrationUpdate, _Mapping]] = ..., migration_complete: _Optional[_Union[MigrationComplete, _Mapping]] = ..., migration_abort: _Optional[_Union[MigrationAbort, _Mapping]] = ..., migration_resume: _Optional[_Union[MigrationResume, _Mapping]] = ..., migration_paused: _Optional[_Union[MigrationPaused, _Mapping]] = ..., topic_interest: _Optional[_Union[TopicInterest, _Mapping]] = ..., overlay_order: _Optional[_Union[OverlayOrder, _Mapping]] = ..., overlay_report: _Optional[_Union[OverlayReport, _Mapping]] = ..., farewell: _Optional[_Union[Farewell, _Mapping]] = ...) -> None: ...
