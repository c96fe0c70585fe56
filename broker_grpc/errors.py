"""One root for everything a broker or client can complain about."""

from __future__ import annotations


class BrokerError(Exception):
    """Root of this package's errors; `reason` is what travels in a Refusal."""

    reason = "error"


class LanguageError(BrokerError):
    """A filter or publication is not well-formed: wrong types, unknown operator, missing class."""

    reason = "bad_content"


class LimitExceeded(BrokerError):
    """A message is larger, or has more predicates, than this broker accepts."""

    reason = "limit_exceeded"


class ProtocolError(BrokerError):
    """A peer broke the order of messages, or claims an id that is not its own."""

    reason = "protocol"


class UnknownMessageError(BrokerError):
    """A message of a type or version that this side does not speak."""

    reason = "unknown_message"


class MalformedError(BrokerError):
    """Bytes that are no message at all."""

    reason = "malformed"


class NotFoundError(BrokerError):
    """A client names an advertisement or subscription that it does not hold."""

    reason = "not_found"


class DuplicateError(BrokerError):
    """An id that is already in use, or a second stream of the same peer."""

    reason = "duplicate"


class NotConformingError(BrokerError):
    """A publication matches no advertisement of its publisher."""

    reason = "not_conforming"


class DrainingError(BrokerError):
    """The broker accepts no new clients because it is about to stop."""

    reason = "draining"
