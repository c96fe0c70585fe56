"""Who may say what: messages that only brokers, or only clients, send, and all of it in one's own name."""

from __future__ import annotations

from broker_grpc.content.predicates import check_attributes
from broker_grpc.errors import ProtocolError
from broker_grpc.machine import PeerKind
from protos.bodies import SENDER_OF
from protos.body import Body
from protos.client_messages import Advertisement, Publication, Subscription
from protos.envelope import TYPE_OF


def check_sender(sender: PeerKind, body: Body) -> None:
    """Raises ProtocolError for a message that, by its option, is not this kind of peer's to send."""
    kind = body.__class__
    if SENDER_OF[kind] not in ("anyone", sender):
        raise ProtocolError(f"a {sender} does not send a {TYPE_OF[kind]}")


def check_own_name(client: str, wish: Advertisement | Subscription) -> None:
    """Raises ProtocolError for what a client asks in the name of another; no name is its own."""
    if wish.client and wish.client != client:
        raise ProtocolError(f"{client} asks for a {TYPE_OF[wish.__class__]} in the name of {wish.client!r}")


def check_published(client: str, publication: Publication) -> None:
    """Raises BrokerError for a publication that no broker takes from this client."""
    check_attributes(publication.attributes)
    if publication.publisher != client:
        raise ProtocolError(f"{client} publishes in the name of {publication.publisher!r}")
    if not publication.id:
        raise ProtocolError("a publication needs an id")
