"""What can go wrong with an emulated network."""

from __future__ import annotations

from testbed.errors import TestbedError


class NetworkError(TestbedError):
    """The network could not be built or changed as planned."""
