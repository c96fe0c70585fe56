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
