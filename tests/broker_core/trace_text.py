"""Message exchanges as readable text, compared with tests/golden/<name>.txt.

`pytest tests/broker_core --rewrite` rewrites them; review the difference.
"""

from __future__ import annotations

from pathlib import Path

from broker_grpc.content.language import format_filter, format_publication
from protos.body import Body, Envelope
from protos.client_messages import Advertisement, Publication, Subscription
from tests.broker_core.fifo_network import Network

GOLDEN = Path(__file__).parent.parent / "golden"


class Trace:
    """Every message of a network from now on, in the order of sending, with headings."""

    def __init__(self, net: Network) -> None:
        self.lines: list[str] = []
        net.on_send = self._sent

    def heading(self, text: str) -> None:
        self.lines += ["", f"# {text}"] if self.lines else [f"# {text}"]

    def _sent(self, source: str, target: str, envelope: Envelope) -> None:
        body = envelope.body
        self.lines.append(f"{source:>4} -> {target:<4} {body.type} {_detail(body)} hops={envelope.hops}")

    def check(self, name: str, rewrite: bool) -> None:
        text = "\n".join(self.lines) + "\n"
        file = GOLDEN / f"{name}.txt"
        if rewrite:
            file.write_text(text)
        assert text == file.read_text(), f"{file} differs; --rewrite rewrites it"


def _detail(body: Body) -> str:
    if isinstance(body, Advertisement | Subscription):
        return f"{body.id} {format_filter(body.predicates)}"
    if isinstance(body, Publication):
        return f"{body.id} {format_publication(body.attributes)}"
    fields = [f for f in body.__struct_fields__ if f not in ("wire", "wire_size")]
    return " ".join(f"{f}={getattr(body, f)}" for f in fields if getattr(body, f))
