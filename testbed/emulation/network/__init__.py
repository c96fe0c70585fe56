"""The emulated network: a real Mininet, built in batches, shaped exactly, observed without disturbing it.

`EmulatedNetwork` is what the runner uses. It is imported on first use, because the small processes of this
package (the prober) should not load Mininet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from testbed.emulation.network.emulated import EmulatedNetwork

__all__ = ["EmulatedNetwork"]


def __getattr__(name: str) -> Any:
    if name == "EmulatedNetwork":
        from testbed.emulation.network.emulated import EmulatedNetwork

        return EmulatedNetwork
    raise AttributeError(name)
