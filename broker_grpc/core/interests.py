"""What the clients of one broker want: topics to take part in, and who gets which publication."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from broker_grpc.content.filters import Filter
from broker_grpc.errors import DuplicateError, LanguageError, LimitExceeded, NotFoundError
from protos.content_messages import Predicate, Value

TOPIC = "class"  # the attribute that names the topic


def topic_of(filter_: Filter, where: str) -> str:
    """The one topic that a filter names; whatever else it asks is looked at where its client is.

    `where` says to whom names none what kind of system it is that needs one.
    """
    for attribute, value in filter_.equalities:
        if attribute == TOPIC and isinstance(value, str):
            return value
    raise LanguageError(f"{where} a filter names its topic: [{TOPIC},eq,'news']")


class Want:
    __slots__ = ("client", "filter", "id", "is_subscription", "topic")

    def __init__(self, id_: str, client: str, filter_: Filter, topic: str, is_subscription: bool) -> None:
        self.id = id_
        self.client = client
        self.filter = filter_
        self.topic = topic
        self.is_subscription = is_subscription


class LocalInterests:
    """Advertisements and subscriptions by id, and subscriptions by topic."""

    def __init__(
        self, prefix: str, declared: Sequence[str], per_client: int, max_predicates: int, where: str
    ) -> None:
        self._prefix = prefix
        self._declared = frozenset(declared)
        self._per_client = per_client
        self._max_predicates = max_predicates
        self._where = where
        self._last = 0
        self._wants: dict[str, Want] = {}
        self._by_topic: dict[str, dict[str, Want]] = {}
        self._held: Counter[str] = Counter()  # by client
        self._takes_part: Counter[str] = Counter()  # by topic, only what is there
        self.subscriptions = 0

    def topics(self) -> frozenset[str]:
        return self._declared.union(self._takes_part)

    def subscribed(self) -> frozenset[str]:
        """Topics that some client has subscribed to."""
        return frozenset(self._by_topic)

    def subscribed_by(self, client: str) -> list[str]:
        """The topic of each subscription of this client."""
        wants = self._wants.values()
        return sorted(want.topic for want in wants if want.client == client and want.is_subscription)

    def subscribed_without(self, client: str) -> frozenset[str]:
        """Topics that some other client has subscribed to."""
        found = self._by_topic.items()
        return frozenset(t for t, wants in found if any(want.client != client for want in wants.values()))

    def subscribed_by_client(self) -> dict[str, frozenset[str]]:
        """The same for each client that has subscribed to something."""
        found: dict[str, set[str]] = {}
        for topic, wants in self._by_topic.items():
            for want in wants.values():
                found.setdefault(want.client, set()).add(topic)
        return {client: frozenset(topics) for client, topics in found.items()}

    def has(self, topic: Value | None) -> bool:
        return topic in self._takes_part or topic in self._declared

    def __len__(self) -> int:
        return len(self._wants)

    def add(self, client: str, wish: str, predicates: Sequence[Predicate], is_subscription: bool) -> str:
        """Returns the id given to it; raises BrokerError."""
        if self._held[client] >= self._per_client:
            raise LimitExceeded(f"{client} holds {self._per_client} advertisements and subscriptions")
        if wish in self._wants:
            raise DuplicateError(f"id {wish!r} is in use")
        filter_ = Filter.shared(tuple(predicates), self._max_predicates)
        id_ = wish or self._new_id(is_subscription)
        want = Want(id_, client, filter_, topic_of(filter_, self._where), is_subscription)
        self._wants[want.id] = want
        self._held[client] += 1
        self._takes_part[want.topic] += 1
        if is_subscription:
            self.subscriptions += 1
            self._by_topic.setdefault(want.topic, {})[want.id] = want
        return want.id

    def _new_id(self, is_subscription: bool) -> str:
        self._last += 1
        return f"{self._prefix}:{'s' if is_subscription else 'a'}{self._last}"

    def remove(self, client: str, id_: str, is_subscription: bool) -> None:
        want = self._wants.get(id_)
        if want is None or want.client != client or want.is_subscription != is_subscription:
            raise NotFoundError(f"{client} holds no {id_!r} here")
        self._forget(want)

    def client_gone(self, client: str) -> None:
        for want in [want for want in self._wants.values() if want.client == client]:
            self._forget(want)

    def _forget(self, want: Want) -> None:
        del self._wants[want.id]
        self._held[want.client] -= 1
        self._takes_part[want.topic] -= 1
        if not self._takes_part[want.topic]:
            del self._takes_part[want.topic]
        if want.is_subscription:
            self.subscriptions -= 1
            del self._by_topic[want.topic][want.id]
            if not self._by_topic[want.topic]:
                del self._by_topic[want.topic]

    def subscribers(self, attributes: Mapping[str, Value]) -> list[str]:
        """Clients to notify, sorted, each once."""
        wants = self._by_topic.get(str(attributes.get(TOPIC, "")), {})
        return sorted({want.client for want in wants.values() if want.filter.matches(attributes)})

    def filters(self, attributes: Mapping[str, Value]) -> int:
        """How many filters `subscribers` looks at."""
        return len(self._by_topic.get(str(attributes.get(TOPIC, "")), ()))
