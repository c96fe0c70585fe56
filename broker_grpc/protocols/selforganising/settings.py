"""Parameters of CI, lMST and lMIT, with the paper's defaults (section 5; a tick is 10 ms)."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from broker_grpc.core.parameters import Microseconds

Cost = Annotated[float, Meta(ge=0)]
Hops = Annotated[int, Meta(ge=0, le=64, extra_json_schema={"unit": "hops"})]


class SelfOrganisingSettings(msgspec.Struct, forbid_unknown_fields=True):
    eta: Annotated[Hops, Meta(description="radius of the neighbourhood; 0 = no broadcasts")] = 4
    interval_us: Annotated[Microseconds, Meta(ge=1, description="between two broadcasts")] = 2_500_000
    cache: Annotated[int, Meta(ge=1, description="ids of notifications that are remembered")] = 8192
    filter_bits: Annotated[int, Meta(ge=8, le=8_000_000, description="of the Bloom filter")] = 100_000
    hashes: Annotated[int, Meta(ge=1, le=64, description="of the Bloom filter")] = 5
    counts_itself: Annotated[
        bool, Meta(description="whether phi (equation 6) counts the broker among its neighbourhood")
    ] = True
    measured: Annotated[
        bool,
        Meta(description="whether c_ij is a measured round trip, in place of link_costs and other_links"),
    ] = False
    measure_every_us: Annotated[
        Microseconds, Meta(ge=1, description="between two measurements of a trip")
    ] = 10_000_000
    link_unit_us: Annotated[
        Microseconds, Meta(ge=1, description="so long a measured round trip is a link cost of 1")
    ] = 1_000
    link_costs: Annotated[
        dict[str, Cost], Meta(description="c_ij: what a link to each other broker costs")
    ] = {}
    other_links: Annotated[Cost, Meta(description="what a link costs that link_costs does not name")] = 1.0
    processing_cost: Annotated[
        Cost | None, Meta(description="p_i; left out = from the service model, matching_us")
    ] = None
    cost_unit_us: Annotated[
        Microseconds, Meta(ge=1, description="so much matching time is a processing cost of 1")
    ] = 1_000
