"""What `algorithm: {name: gossip}` of a topology file may set."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from broker_grpc.core.parameters import Microseconds

Links = Annotated[int, Meta(ge=1, extra_json_schema={"unit": "links"})]


class GossipSettings(msgspec.Struct, forbid_unknown_fields=True):
    reach: Annotated[Links, Meta(description="a publication crosses at most so many")] = 16
    remembered: Annotated[int, Meta(ge=1, description="publications known again as duplicates")] = 100_000
    kept: Annotated[int, Meta(ge=1, description="publications kept for neighbours that missed them")] = 100
    digest_every_us: Annotated[
        Microseconds, Meta(ge=0, description="between two digests, 0 = only when a link comes up")
    ] = 0
    tells_clients: Annotated[
        bool, Meta(description="a client that subscribes gets what is kept and it has not had")
    ] = False
