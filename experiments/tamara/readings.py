"""What the paper leaves open or contradicts itself about, and how it is read here."""

from __future__ import annotations

from testbed.reproduction.reading import Reading

BIN = Reading(
    "bin", "What is the first bin of table 1(a), printed as 0.6-0.6?", ("0.4-0.6", "0.6"), "0.4-0.6",
    "the bins of each model touch; with it mean frequencies are near the D/M of tables 2 and 3",
)  # fmt: skip
LAW = Reading(
    "law", "Which law of interests divides topics into ten natural clusters?",
    ("two groups, 90 % inside", "two groups, 70 % inside", "three groups, 90 % inside"),
    "two groups, 90 % inside", "25 topics are about two groups of twelve; the paper names no law",
)  # fmt: skip
ARRIVAL = Reading(
    "arrival", "When do users declare their interests?", ("all when they join", "each at its own time"),
    "all when they join", 'section 5.2: "let users join the system and declare their interest"',
)  # fmt: skip
PAIRS = Reading(
    "pairs", "Who moves when a single topic becomes part of a new cluster?",
    ("everyone subscribed", "those subscribed to both"), "everyone subscribed",
    "section 3.2 views topics as singleton clusters, and a merge moves everyone; the cost of the surviving "
    "channel, 1 + f per topic, which the paper omits, is added, since its method is said to be safe",
)  # fmt: skip
CADENCE = Reading(
    "cadence", "How often does a channel sample its overlap with others?",
    ("every M", "every 10 M", "every 240 M"), "every 10 M",
    '"periodically"; an hour with M of six minutes',
)  # fmt: skip
OVERLAP = Reading(
    "overlap", "Do the periodic samples cost messages?", ("they ride on keep-alives", "two per person asked"),
    "they ride on keep-alives", "the curves of Tamara and Tamara+ are said to practically merge",
    calibrated_on=("T2-infrequent", "T2-average", "T2-frequent"),
)  # fmt: skip
SURVEY = Reading(
    "survey", "How many are asked in a survey?", ("5 % margin", "10 % margin", "everyone"), "5 % margin",
    "reference [1] of the paper: 384 of an endless population, by Cochran's formula; two messages per person",
)  # fmt: skip
LEAVING = Reading(
    "leaving", "Which topics are weighed when a user gives one up?", ("interests(s) in c", "topics(s) in c"),
    "interests(s) in c",
    "the printed topics(s) is empty for a member of c, so that everyone would always leave; "
    "what another cluster of the user delivers as well is not counted",
)  # fmt: skip
COUNTING = Reading(
    "counting", "What is in Tamara+?", ("every message beyond the user's own request",),
    "every message beyond the user's own request",
    "lookup 2, trigger 1, survey 2 per person, proposal 2, each channel and each user told 1, each tree "
    "entered or left 1",
)  # fmt: skip
START = Reading(
    "start", "What is a start with clusters that match perfectly?", ("each user wants two whole groups",),
    "each user wants two whole groups", "then every user is in clusters without a filter",
)  # fmt: skip
CHANGE = Reading(
    "change", "What are the 75,000 operations of the adaptive runs?",
    ("replacements of one topic by another", "single (un)subscriptions"),
    "replacements of one topic by another",
    "each user changes its subscription to about 25 topics and the new interests are compared as a whole",
)  # fmt: skip
KMEANS = Reading(
    "kmeans", "Which k and how many restarts has K-means?", ("best of k = 5 to 40, 20 restarts each",),
    "best of k = 5 to 40, 20 restarts each", "the paper says neither; the lowest overall cost is kept",
)  # fmt: skip
PACKAGES = Reading(
    "packages", "What do a year's downloads of a Debian mirror look like?", ("synthesised",), "synthesised",
    "the logs are not public: 3,000 packages, a tenth on every machine, popularity rank^-1.87, dependencies, "
    "four profiles, updates log-uniform between one a year and one a week, 1,000 users joining over a year",
)  # fmt: skip

READINGS = (
    BIN, LAW, ARRIVAL, PAIRS, CADENCE, OVERLAP, SURVEY, LEAVING, COUNTING, START, CHANGE, KMEANS, PACKAGES,
)  # fmt: skip
COSTS = (LAW.id, PAIRS.id, CADENCE.id, SURVEY.id)  # what every cost of Tamara rests on
