"""What messages are for. Each names its purpose in its .proto file, and tables sum by it.

These are the words that several protocols share; a protocol may add its own and explains them in its file.
"""

from __future__ import annotations

PURPOSES = {
    "data": "publications on their way to subscribers",
    "data_to_root": "publications on their way to the root of a tree, before they go down it",
    "routing": "advertisements and subscriptions, and what repairs their tables",
    "ring": "upkeep of a ring: neighbours, fingers, routing tables",
    "tree": "joining, leaving and mending a dissemination tree",
    "heartbeat": "whether the other end is alive",
    "placement": "which broker serves a user",
    "handover": "a user changes its broker",
    "relocation": "where a publisher should be: traces, loads, round trips",
    "migration": "a publisher moves",
    "reconfiguration": "which overlay links there shall be",
    "interest": "broadcasts of what a broker is interested in",
    "exchange": "neighbours swap links",
    "clustering": "forming and mending clusters of alike brokers",
    "survey": "numbers asked of others, to decide by",
    "membership": "who takes part, and with which topics",
    "control": "the stream itself and the harness: greetings, refusals, acknowledgements, discovery",
}
UNKNOWN = "unknown"  # of a message that no catalogue knows
TO_ROOT = 1  # `leg` of a publication


def goes_up(leg: int) -> bool:
    """Whether it is on its way to a root. Where there are several trees, each has an odd leg to its root and,
    down from it, the even one before that; 1 and 0 are those of the topic's own."""
    return leg % 2 == TO_ROOT


def is_data(purpose: str) -> bool:
    """Whether such messages carry publications: `data` and every word that begins with it."""
    return purpose == "data" or purpose.startswith("data_")


def purpose_of(listed: str, leg: int) -> str:
    """Of a message of a type for which the catalogue says `listed`, on this leg of its way."""
    return "data_to_root" if goes_up(leg) and listed == "data" else listed
