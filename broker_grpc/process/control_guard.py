"""Who may give orders to a broker over gRPC: with TLS a certificate with the role, else the run's secret."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from broker_grpc.errors import BrokerError
from broker_grpc.process.tls import CONTROL_ROLE
from broker_grpc.process.transport import identities_of

SECRET_KEY = "testbed-secret"  # of the metadata of a call
SHORTEST_SECRET = 16  # characters


class NoSecret(BrokerError):
    """The control service is asked for, and nothing would guard it."""

    reason = "control"


class ControlGuard:
    def __init__(self, tls: bool, secret_file: str) -> None:
        """NoSecret when there is neither TLS nor a file with a secret."""
        self._secret = b"" if tls else _read_secret(secret_file)

    def admits(self, context: Any) -> bool:
        if not self._secret:
            return CONTROL_ROLE in identities_of(context)
        return any(hmac.compare_digest(shown, self._secret) for shown in _shown(context))


def _read_secret(file: str) -> bytes:
    if not file:
        raise NoSecret(
            "control_service without TLS needs `control_secret`, a file that only its owner can read"
        )
    try:
        secret = Path(file).read_bytes().strip()
    except OSError as error:
        raise NoSecret(f"{file}: {error.strerror}") from None
    if len(secret) < SHORTEST_SECRET:
        raise NoSecret(f"{file}: a secret has at least {SHORTEST_SECRET} characters")
    return secret


def _shown(context: Any) -> Sequence[bytes]:
    found = [value for key, value in context.invocation_metadata() or () if key == SECRET_KEY]
    return [value if isinstance(value, bytes) else value.encode() for value in found]
