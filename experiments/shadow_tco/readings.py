"""What the paper leaves open or contradicts itself about, and how it is read here."""

from __future__ import annotations

from testbed.reproduction.reading import Reading

EXPONENT = Reading(
    "exponent", "Which exponent has the power law of subscription sizes?", ("2", "others"), "2",
    "a common value",
)  # fmt: skip
SCALE = Reading(
    "exponential-scale", "Which scale has the exponential law of popularity?", ("|T|/5", "others"), "|T|/5",
    "topics of the last fifth are still subscribed to",
)  # fmt: skip
LAW = Reading(
    "law", "Which law of popularity is behind figures 4 to 8?", ("uniform", "all three are judged"),
    "all three are judged", "figures 2 and 3 are said to be uniform; for the others none is named",
)  # fmt: skip
TIES = Reading(
    "ties", "To which edge go ties in LOW-ODA?",
    ("nodes that came first", "nodes that came last", "a fixed random order", "a new random order each round",
     "links of the round before"),
    "nodes that came first", "the paper names no rule",
)  # fmt: skip
WEIGHTS = Reading(
    "weights", "What does a node weigh as a backup?",
    ("neighbours + primaries", "neighbours", "primaries", "all the same"), "neighbours + primaries",
    "line 8 of algorithm 11 says so",
)  # fmt: skip
REPAIR = Reading(
    "repair", "Whose maximum degree shall a repair not raise?",
    ("the shadow set's", "that of its nodes with a topic to connect", "that of all nodes"),
    "the shadow set's", "algorithms 7 and 10 pass S for V",
)  # fmt: skip
SECONDS = Reading(
    "seconds", "What do the running times hold?", ("what connectivity waits for", "step III too"),
    "what connectivity waits for", "the paper does not say; steps I and II of a join, step II of a leave",
)  # fmt: skip

READINGS = (EXPONENT, SCALE, LAW, TIES, WEIGHTS, REPAIR, SECONDS)

DEGREES = ("S6", "S7", "S8", "S9", "S10", "S11", "S12", "S22", "S23", "S24", "S25", "S26", "S27")
TIMES = ("S13", "S14", "S15", "S16", "S30", "S31", "S32", "S33")
LINKS = ("S18", "S19", "S20", "S21", "S28", "S29", "S34", "S35", "S36")
RESTING = {  # reading -> claims, also of the two other laws
    EXPONENT.id: ("S1", "S2", "S3", "S4", "S5", "S17", *DEGREES, *TIMES, *LINKS),
    LAW.id: ("S17", *DEGREES, *TIMES, *LINKS),
    TIES.id: ("S28", "S29", "S34", "S35", "S36"),
    WEIGHTS.id: ("S2", "S3", "S4", "S5", "S6", "S7", "S8", "S17", "S25"),
    REPAIR.id: ("S6", "S7", "S8", "S9", "S10", "S11", "S12", "S18", "S19", "S20", "S21", "S23", "S25", "S26"),
    SECONDS.id: TIMES,
}
