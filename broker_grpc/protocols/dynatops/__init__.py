"""DYNATOPS after Zhao, Kim and Venkatasubramanian (DEBS 2013).

Here are the paper's decisions as pure functions: where a user goes (section 4), what a configuration costs,
when and how the broker network is changed (section 5).
"""

BUILDS_ON = ()  # protocols whose modules those here may import
