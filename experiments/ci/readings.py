"""What the paper leaves open, and how it is read here. Declared before results were looked at."""

from __future__ import annotations

from testbed.reproduction.reading import Reading

LAW = Reading(
    "static-tree", "By which law is the static overlay 'randomly generated'?",
    ("uniform spanning tree", "random recursive tree", "both are judged"), "both are judged",
    "the text names none; prototypes had shown that it decides about lMST: neither is a silent default",
)  # fmt: skip
NETWORK = Reading(
    "network", "Which of BRITE's models, with which parameters?",
    ("top-down Waxman, BRITE's defaults", "transit-stub of GT-ITM"), "top-down Waxman, BRITE's defaults",
    "100 domains of 100 routers are the defaults of BRITE's top-down file",
)  # fmt: skip
T1 = Reading(
    "t1", "What is 'completely change the cost of links'?",
    ("brokers at other places of the same graph", "independent uniform costs"),
    "brokers at other places of the same graph", "costs are said to follow the physical topology",
)  # fmt: skip
T2 = Reading(
    "t2", "What changes at t1 and what at t2?",
    ("links at t1, brokers at t2", "both at both"), "links at t1, brokers at t2",
    "'the cost of links and brokers, respectively'",
)  # fmt: skip
LOADS = Reading(
    "loads", "Section 5.1 also names changing load values, without times. When do they change?",
    ("never", "at t1 and t2"), "never", "the sentence with t1 and t2 names costs only",
)  # fmt: skip
ITSELF = Reading(
    "itself", "Does the neighbourhood of equation 6 contain the broker itself?", ("yes", "no"), "yes",
    "it is 'at most eta hops away', and phi then is an average, as the text says",
)  # fmt: skip
RIVALS = Reading(
    "rivals", "How do lMST and lMIT decide?",
    ("CI's messages; the dearest, or least shared, link of the cycle goes", "others"),
    "CI's messages; the dearest, or least shared, link of the cycle goes",
    "'they both rely on broadcast and request messages'; section 3.1.2 has the trees that they aim at",
)  # fmt: skip
TIES = Reading(
    "ties", "Which link goes when two removals cost the same?",
    ("none if one of them is the new link, else the first from the proposer", "others"),
    "none if one of them is the new link, else the first from the proposer", "no gain, no exchange",
)  # fmt: skip
UNKNOWN = Reading(
    "unknown", "What is I_ij / I_ij inside equation 7 when nothing is shared with a broker on the way?",
    ("1: the whole way is paid", "others"), "1: the whole way is paid",
    "nothing is saved by what is not shared",
)  # fmt: skip
MESSAGES = Reading(
    "messages", "What does a message of a heuristic cost?",
    ("its link and the broker that gets it, per hop", "others"),
    "its link and the broker that gets it, per hop", "as notifications do (equation 1)",
)  # fmt: skip
RECONFIGURATION = Reading(
    "reconfiguration", "Which messages are 'executing the reconfigurations'?",
    ("requests and exchanges", "exchanges only"), "requests and exchanges",
    "both exist only because a link is proposed; the exchange is ours, the paper's is published elsewhere",
)  # fmt: skip
FILTERS = Reading(
    "filters", "Are Bloom filters played at paper size?",
    ("no: common ids are counted exactly", "yes"), "no: common ids are counted exactly",
    "100,000 bits take at most 0.00003 of the ids for others",
)  # fmt: skip
LENGTH = Reading(
    "length", "How long are the runs of figure 6?", ("25,000 ticks", "75,000 ticks"), "25,000 ticks",
    "as those of figure 5, before costs change",
)  # fmt: skip
RESULT = Reading(
    "figure-4", "Are the costs of figure 4 accumulated, as its caption says?",
    ("per 1,000 ticks", "accumulated"), "per 1,000 ticks",
    "the text measures every 1,000 ticks and sees costs fall and jump",
)  # fmt: skip

DEPLOYED_COSTS = Reading(
    "deployed-costs", "What do links and brokers of the deployed system cost?",
    ("the planned round trip and matching time, linear", "normalised from the cheapest pair on"),
    "the planned round trip and matching time, linear", "what brokers can measure by themselves",
)  # fmt: skip

READINGS = (LAW, NETWORK, T1, T2, LOADS, ITSELF, RIVALS, TIES, UNKNOWN, MESSAGES, RECONFIGURATION, FILTERS,
            LENGTH, RESULT, DEPLOYED_COSTS)  # fmt: skip
OF_ALL = (LAW.id, NETWORK.id, LOADS.id, ITSELF.id, TIES.id, UNKNOWN.id, MESSAGES.id, FILTERS.id)
OF_4 = (*OF_ALL, T1.id, T2.id, RESULT.id)
OF_5 = (*OF_ALL, RECONFIGURATION.id)
OF_6 = (*OF_ALL, LENGTH.id, RIVALS.id)
OF_DEPLOYED = (LAW.id, RIVALS.id, T1.id, T2.id, DEPLOYED_COSTS.id)
