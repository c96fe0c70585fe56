"""DYNATOPS after Zhao, Kim and Venkatasubramanian (DEBS 2013), on topic trees grown from their roots.

Decisions are pure functions: where a user goes (section 4), what a configuration costs, when and how the
broker network is changed (section 5). `broker` and `manager` are the machines that carry them out.
"""

BUILDS_ON = ("rendezvous", "ring")  # protocols whose modules those here may import
