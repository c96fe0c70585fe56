"""Gossip: a protocol of its own package, the example of docs/add-a-protocol.md."""
