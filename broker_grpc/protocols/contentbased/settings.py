"""Parameters of content-based routing: it has none besides the broker's options."""

from __future__ import annotations

import msgspec


class ContentBasedSettings(msgspec.Struct, forbid_unknown_fields=True):
    """Nothing to set."""
