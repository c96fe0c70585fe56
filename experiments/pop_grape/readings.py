"""What the report leaves open, and how it is read here. Most of it was lost with figure 4b."""

from __future__ import annotations

from testbed.reproduction.reading import Reading

PUBLISHERS = Reading(
    "publishers", "How many publishers are there?", ("5", "10", "20"), "10",
    "a guest run of 18 minutes takes about three minutes of one core",
)  # fmt: skip
RATE = Reading(
    "rate", "How many messages does a publisher send in a minute?", ("30", "60"), "30",
    "with ten publishers, for the same reason",
)  # fmt: skip
BANDWIDTH = Reading(
    "bandwidth", "What is a broker's output bandwidth on PlanetLab?", ("0.1 Mbit/s", "1 Mbit/s", "10 Mbit/s"),
    "1 Mbit/s", "a broker in Java on a shared machine",
)  # fmt: skip
MATCHING = Reading(
    "matching", "How long does a broker match a publication on PlanetLab?", ("0.5 ms", "5 ms", "100 ms"),
    "5 ms", "a broker in Java on a shared machine. It, and so queueing, is an input of figures 5b, 5c",
)  # fmt: skip
AVERAGE = Reading(
    "average", "What is an average delay or hop count over?", ("clients", "deliveries"), "clients",
    '5.2: "all graphs use average values across all brokers or clients"; the claims whose names end with '
    "-delivery are judged over deliveries",
)  # fmt: skip
AT_THE_END = Reading(
    "at-the-end", "When is \"at the end of the experiment\"?", ("the last minute", "the last quarter"),
    "the last quarter", "one minute's luck shall not decide",
)  # fmt: skip
HEADLINE = Reading(
    "headline", "Over which X is a headline percentage taken?", ("every X", "the largest"), "the largest",
    'the later version of the report says "up to"; claims whose names end with -each are judged at every X',
)  # fmt: skip
OVERHEAD = Reading(
    "overhead", "What is the message overhead a share of?",
    ("all messages between brokers", "publications between brokers"), "all messages between brokers",
    "the report does not define its ratio",
)  # fmt: skip
MINIMISED = Reading(
    "minimised", "Which metric did GRAPE minimise in figures 6d to 6g?", ("load", "delay", "both are judged"),
    "both are judged", "the report does not say; both are cheap",
)  # fmt: skip
EXTREMES = Reading(
    "extremes", "Which thresholds are the extreme ones?", ("POP 20 to 200, GRAPE 10 to 200", "others"),
    "POP 20 to 200, GRAPE 10 to 200", "5.2 names 10 and 100; the default lies between ours",
)  # fmt: skip
# Of the algorithms. Each choice is a setting of the layer or the broker; reading_study.py varies them.
OUTPUT_DELAY = Reading(
    "output-delay", "Does GRAPE's output delay to a neighbour contain the link's latency?",
    ("without it", "with the link's latency"), "without it",
    '4.1 calls it "output queuing delay", and algorithm 1 adds nothing for the way',
)  # fmt: skip
ROWS = Reading(
    "rows", "Which publications is a row of POP's profile table averaged over?",
    ("all of the publisher's", "those that reached it"), "all of the publisher's",
    "otherwise one delivery in ten would weigh as much as ten in ten",
)  # fmt: skip
LATE_ROW = Reading(
    "late-row", "What is the average of a row that is first seen late?",
    ("its first value", "weighted with zeros before"), "its first value",
    "a running average of one value is that value; 3.1 does not say what it begins with",
)  # fmt: skip
INTERNAL = Reading(
    "internal", "Are the algorithms' own messages matched like publications, and are they load?",
    ("apart", "matched, no load", "matched, and load"), "apart",
    '1: "purely publish/subscribe messaging for internal communications"; 3.3 has POP intercept one from '
    "entering the matching engine",
)  # fmt: skip
PING = Reading(
    "ping", "How much of a ping counts in GRAPE's estimate?", ("half", "whole"), "half",
    "a publication goes one way; 4.2 says ping times",
)  # fmt: skip
OWN = Reading(
    "own-candidate", "Is the publisher's own broker a candidate of GRAPE's?", ("yes", "no"), "yes",
    'otherwise a publisher could never stay; 4.2 says "the downstream brokers that replied"',
)  # fmt: skip

READINGS = (
    PUBLISHERS, RATE, BANDWIDTH, MATCHING, AVERAGE, AT_THE_END, HEADLINE, OVERHEAD, MINIMISED, EXTREMES,
    OUTPUT_DELAY, ROWS, LATE_ROW, INTERNAL, PING, OWN,
)  # fmt: skip

WIDE_AREA = (
    "G1", "G2", "G3", "G4", "G5", "G6", "C1", "F5a", "F5a1", "F5a2", "F5b", "F5b2", "F5c", "F5c2", "F5d2",
    "F5f2", "F6a", "F6b", "F6b2", "F6b3", "F6c", "G16", "G17", "G17d", "G18", "G20", "G22",
)  # fmt: skip
RATES_AND_DELAYS = (
    "G1", "G2", "G3", "G4", "G5", "G6", "C1", "C1r", "F5a", "F5a1", "F5a2", "F5b", "F5b2", "F5c", "F5c2",
    "F5d", "F5d2", "F5x", "F5y", "G14", "F5g", "F5g2", "F5g3", "F5g4", "F5g5", "F5g6", "G14w", "F5gw",
    "F5g2w", "F5g3w", "W1", "W2", "W3", "W4", "W5", "W6", "W7", "W6p", "W7p", "W9", "F6e", "F6e2", "F6f",
    "F6f2",
)  # fmt: skip
OVERHEADS = (
    "G7",
    "G7w",
    "G7c",
    "F5f",
    "F5f2",
    "G12a",
    "G12b",
    "G13",
    "G13w",
    "W8",
    "G10",
    "G11",
    "F6g",
    "F6h",
)
AVERAGES = (
    "G3", "G6", "C1", "C1r", "F5a1", "F5c", "F5c2", "F5d", "F5d2", "F5x", "F5g", "F5g2", "F5g5", "F5gw",
    "F5g2w", "W1", "W2", "W4", "W6", "W7", "W6p", "W7p", "W9", "F6e", "F6e2",
)  # fmt: skip
BY_DELAY = (  # on where GRAPE moves publishers to when delay counts
    "G6", "F5a", "F5a1", "F5a2", "F5b", "F5b2", "F5c", "F5c2", "F5d", "F5d2", "F5g", "F5g2", "F5gw", "F5g2w",
    "F6b", "F6b2", "F6b3", "G17", "G17d", "W1", "W2", "W3", "W4", "W5", "W6", "W7", "W6p", "W7p", "W9",
    "F6e2", "F6f2", "G20",
)  # fmt: skip
BY_GRAPE = (
    *BY_DELAY, "G4", "G5", "G7", "G7w", "G7c", "F5f", "F5f2", "F5g3", "F5g4", "F5g3w", "F5x", "F5y", "G11",
    "G12b", "G13", "G13w", "G14", "G14w", "F6d", "F6e", "F6f", "F6g", "W8",
)  # fmt: skip
BY_POP = (
    "G1", "G2", "G3", "C1", "C1r", "F5a1", "F5a2", "F5b", "F5b2", "F5c2", "F5d", "F5d2", "F5f", "F5f2",
    "F5g2", "F5g5", "F5g6", "F5g2w", "F6a", "G7", "G7w", "G7c", "G10", "G12a", "G14", "G14w", "F6h",
    "F6h2", "G20",
)  # fmt: skip
RESTING = {  # reading -> claims
    PUBLISHERS.id: WIDE_AREA,
    RATE.id: WIDE_AREA,
    BANDWIDTH.id: WIDE_AREA,
    MATCHING.id: WIDE_AREA,
    AT_THE_END.id: RATES_AND_DELAYS,
    HEADLINE.id: ("G1", "G2", "G3", "G4", "G5", "G6", "G7", "G7w", "G7c"),
    AVERAGE.id: AVERAGES,
    OVERHEAD.id: OVERHEADS,
    MINIMISED.id: ("F6d", "F6e", "F6e2", "F6f", "F6f2", "F6g", "G11"),
    EXTREMES.id: ("G10", "G11"),
    OUTPUT_DELAY.id: BY_DELAY,
    PING.id: BY_DELAY,
    OWN.id: BY_GRAPE,
    ROWS.id: BY_POP,
    LATE_ROW.id: BY_POP,
    INTERNAL.id: (*BY_GRAPE, *(claim for claim in BY_POP if claim not in BY_GRAPE), "G16", "G18", "F6c"),
}
