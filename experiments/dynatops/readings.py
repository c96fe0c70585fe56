"""What section 6 leaves open, and how it is read here; declared before figures 5 to 9 were computed."""

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

# ---------------------------------------------------------------- figures 5 to 9

MOBILITY = Reading(
    "mobility", "How do users move?", ("exploration and return",), "exploration and return",
    "the check-ins are not to be had: a model with the quantiles that figure 5 states",
    calibrated_on=("D5-visits", "D5-pairs", "D5-once", "D5-day", "D5-week"),
)  # fmt: skip
BASE = Reading(
    "base", "Which base has Bayeux's Tapestry?", ("2", "4", "16"), "16",
    "Tapestry's paper has hexadecimal digits; this one is silent, and every choice is a line of its own",
)  # fmt: skip
SUBSTRATE = Reading(
    "substrate", "On which overlay does DYNATOPS stand?", ("chord", "tapestry-16"), "chord",
    "Chord is its example and its prototype (5.1.2, 7); prefix routing is computed beside it",
)  # fmt: skip
EVENTS = Reading(
    "events", "How many events has a topic of the Poisson model?", ("1 an hour", "10 an hour", "100 an hour"),
    "1 an hour", "no rate is said; one event in each time slot. It decides whether moving is worth its cost",
)  # fmt: skip
POPULARITY = Reading(
    "popularity", "Have popular topics more events?", ("no", "yes"), "no",
    "in the location model events follow the visits; in the Poisson model nothing is said",
)  # fmt: skip
VISITS = Reading(
    "visits", "How many events is a visit?", ("1", "6.67"), "1",
    "successive check-ins in one cell are a single event (6.1.1); 6.67 is one for each of three million",
)  # fmt: skip
T_UPDATE = Reading(
    "t-update", "What is T_update in the location model?", ("1 h", "6 h", "24 h"), "24 h",
    "derived from figure 6a: with an hour brokers of a cluster of ten alone tell each other 24 million times",
    calibrated_on=("D6a-least", "D6a-40", "D6a-ten", "D6a-u"),
)  # fmt: skip
T_UPDATE_POISSON = Reading(
    "t-update-poisson", "What is T_update in the Poisson model?", ("1 h", "5 h"), "1 h",
    "its time granularity (6.1.2)",
)  # fmt: skip
LOAD_WEIGHT = Reading(
    "load-weight", "What is w_l, in units of the number of brokers compared?", ("0", "0.1", "0.5", "1"),
    "0.5",
    "a load is a share, about one over that number; half of an average load then weighs like two topics of "
    "five or so: the middle of the sweep",
)  # fmt: skip
LOAD_SHARE = Reading(
    "load-share", "Of whose subscriptions is a broker's load a share?", ("cluster", "all"), "cluster",
    "a broker sees its cluster only (section 4); the formula has all users",
)  # fmt: skip
OWN_TOPICS = Reading(
    "own-topics", "Has the current broker the topics that only the asking user has there?", ("yes", "no"),
    "yes", "S_b is what b subscribes to; no exception is made. Chosen after a trial of the other choice: it "
    "had more handovers: what is said of handovers is open until both are run",
)  # fmt: skip
LEGS = Reading(
    "legs", "Which part of the way is the notification delay?", ("publisher to subscriber", "model"),
    "publisher to subscriber",
    "6.2 defines it so: users' access and the way to the rendezvous point included; the model (2) is another "
    "column",
)  # fmt: skip
AVERAGE = Reading(
    "average", "Over what is the delay averaged?", ("deliveries to users", "arrivals at brokers"),
    "deliveries to users", "subscribers are users (6.2); the model's sum over brokers is another column",
)  # fmt: skip
LEG_MESSAGES = Reading(
    "leg-messages", "Are messages to the rendezvous point notification overhead?", ("yes", "no"), "yes",
    "the number of messages to deliver publications (6.2)",
)  # fmt: skip
ROUND_TRIPS = Reading(
    "round-trips", "What are the round trips of the location model?", ("10 us per km, x 0.8 to 1.2",),
    "10 us per km, x 0.8 to 1.2", "a mean proportional to the distance (6.1.1); fixed for each pair",
)  # fmt: skip
T_FREE = Reading(
    "t-free", "What is T_free in the location model?", ("3 d", "7 d", "14 d", "28 d"), "7 d",
    "only figure 9 varies it, without values in the text; 10 h in the Poisson model (figure 8)",
)  # fmt: skip
CLUSTERS = Reading(
    "clusters", "Which brokers are a cluster of the Poisson model?", ("consecutive numbers",),
    "consecutive numbers", "unsaid; brokers have no places there. Five in each, as figure 9 has",
)  # fmt: skip
START = Reading(
    "start", "How do users come at the start of the Poisson model?",
    ("in 100 turns", "all at once", "in 1000 turns"), "in 100 turns",
    "algorithm 1 for each; clusters tell each other between two turns, else nobody knows anything",
)  # fmt: skip
REQUESTS = Reading(
    "requests", "Is a topic that replaces another one request or two?", ("one",), "one",
    "the join request is part of the message that changes the subscriptions (algorithm 1)",
)  # fmt: skip
SIGMA = Reading(
    "sigma", "Which exponent has the Zipf pattern?", ("0.5", "1", "2"), "1", "not given (6.1.2)",
)  # fmt: skip
MODES = Reading(
    "modes", "From which mode is a new topic of the multimodal pattern?", ("the user's own",),
    "the user's own", "a user first selects its mode and then topics from it (6.1.2)",
)  # fmt: skip
DCB_M = Reading(
    "dcb-m", "What is DCB-M for partitions with changed subscriptions?", ("renewed links", "added links"),
    "renewed links",
    "links between changed brokers are taken away and LOW-ODA's added until all topics are connected; or "
    "only added. DCB-M itself is not described here, so this is ours",
)  # fmt: skip
GEOPS = Reading(
    "geops", "What is GeoPS?", ("a grid with far links",), "a grid with far links",
    "32 x 32 cells, each its topic's rendezvous point with the users who are there, links to the four next "
    "cells and a random one, greedy routes; ours, after no more than its abstract",
)  # fmt: skip
PLACED_BNR = Reading(
    "bnr-placement", "Which placement has DYNATOPS(BNR) in figure 6?", ("static", "loc"), "loc",
    "that of the other systems (6.2); each is compared with Bayeux of its own placement",
)  # fmt: skip
REJOINING = Reading(
    "rejoining", "How many messages does a broker's new place on the ring take?", ("log2^2 |V|",),
    "log2^2 |V|", "the bound that the paper takes from Chord's; all other messages are counted one by one",
)  # fmt: skip

SCALED = (TOPICS_PER_BROKER, STOPPING, ROOT, DELAYS, WEIGHT, RING, RATES)
PLACING = (LOAD_WEIGHT, LOAD_SHARE, OWN_TOPICS, REQUESTS)
MODELLED = (
    MOBILITY, BASE, SUBSTRATE, EVENTS, POPULARITY, VISITS, T_UPDATE, T_UPDATE_POISSON, *PLACING, LEGS,
    AVERAGE, LEG_MESSAGES, ROUND_TRIPS, T_FREE, CLUSTERS, START, SIGMA, MODES, DCB_M, GEOPS, PLACED_BNR,
    REJOINING,
)  # fmt: skip
READINGS = (*SCALED, *MODELLED)
SCALING = tuple(reading.id for reading in SCALED)
