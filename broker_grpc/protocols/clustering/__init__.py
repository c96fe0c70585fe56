"""Tamara: topics are grouped into clusters, so that fewer trees have to be kept alive.

After Milo, Zur, Verbin, "Boosting Topic-Based Publish-Subscribe Systems with Dynamic Clustering" (SIGMOD
2007). Decisions are pure functions. No algorithm is registered here yet: nothing of it runs on brokers.
"""
