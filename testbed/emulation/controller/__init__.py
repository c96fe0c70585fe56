"""The SDN controller: a Ryu application in a process of its own, and the handle the harness has on it."""
