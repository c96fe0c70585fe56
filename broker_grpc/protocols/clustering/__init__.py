"""Tamara: topics are grouped into clusters, so that fewer trees have to be kept alive.

After Milo, Zur, Verbin, "Boosting Topic-Based Publish-Subscribe Systems with Dynamic Clustering" (SIGMOD
2007). Decisions are pure functions; entities (topic channel, cluster channel, subscriber) are machines
without IO; `broker` runs them on the rendezvous brokers of Scribe.
"""

BUILDS_ON = ("rendezvous", "ring")
