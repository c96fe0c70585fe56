"""Paper-size counting on the protocols' decision functions: messages are counted, not carried.

Flow is told what the simulator is told (a plan's clients, seeds, costs), calls the decisions of the
machines, and lets every message arrive in the instant in which it is sent. On plans whose operations are
spaced it gives the simulator's integers; `tests/flow` holds it to that. It is no engine: nothing is
deployed, and nothing is logged. A folder plays one protocol; modules here are for all of them.
"""
