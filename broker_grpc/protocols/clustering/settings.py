"""What clustering can be told, with the paper's values where it has some."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from broker_grpc.protocols.clustering.costs import PAPER, Costs


class ClusteringSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    costs: Annotated[Costs, Meta(description="the four cost functions of section 2")] = PAPER
    phi: Annotated[
        float, Meta(gt=0, lt=1, description="probability that a worthwhile change is looked at in time")
    ] = 0.99
    margin: Annotated[
        float, Meta(ge=0, le=0.5, description="of a survey's error; decides how many are asked, 0: everyone")
    ] = 0.05
    cadence: Annotated[
        int, Meta(ge=1, description="maintenance intervals M between two samples of a channel's overlap")
    ] = 10
    paid_overlap: Annotated[
        bool, Meta(description="samples of overlap cost messages; else they ride on keep-alives")
    ] = False
    pairs: Annotated[
        Literal["everyone", "common"],
        Meta(description="who moves when single topics become a cluster: all users or those of both"),
    ] = "everyone"
    adapt: Annotated[bool, Meta(description="clusters change; else they stay as they are (SC)")] = True
