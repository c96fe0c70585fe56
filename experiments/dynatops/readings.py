"""What section 6.3.3 leaves open, and how it is read here."""

from __future__ import annotations

from testbed.reproduction.reading import Reading

TOPICS_PER_BROKER = Reading(
    "topics-per-broker", "To how many topics does a broker subscribe?", ("2", "5", "8"), "5",
    "figure 10 does not say; a user of the Poisson model has 5 (6.1.2)",
)  # fmt: skip
STOPPING = Reading(
    "stopping", "What when no swap of the worst broker makes the cost fall?", ("first_worst", "next_worst"),
    "first_worst", "algorithm 3 stops there",
)  # fmt: skip
ROOT = Reading(
    "root", "Is a rendezvous point that does not subscribe an unrelated relay?", ("no", "yes"), "no",
    "the relay overhead counts messages consumed, and the rendezvous point's comes from the publisher",
)  # fmt: skip
DELAYS = Reading(
    "delays", "What delay has a hop?", ("hops", "random"), "hops",
    "unit delays in the Poisson model (6.3.1), to whose patterns figure 10 refers",
)  # fmt: skip
WEIGHT = Reading(
    "delay-weight", "Which w_d?", ("0", "1", "10"), "1", "figure 6 names 1; figure 10 none",
)  # fmt: skip
RING = Reading(
    "ring", "On which overlay?", ("chord", "tapestry-2", "tapestry-4", "tapestry-16"), "chord",
    "the cost of a reconfiguration is derived for Chord (5.1)",
)  # fmt: skip
RATES = Reading(
    "cost-of-moving", "Must the configuration be worth its reconfiguration?", ("no", "yes"),
    "no", "it is compared with a bootstrap, from which nobody moves; no number of events is said",
)  # fmt: skip

READINGS = (TOPICS_PER_BROKER, STOPPING, ROOT, DELAYS, WEIGHT, RING, RATES)
SCALING = tuple(reading.id for reading in READINGS)
