"""DYNATOPS and its rivals at the paper's size: users are rows of arrays, messages are counted, not carried.

Which broker a user goes to does not depend on the overlay, and which trees there are does not depend on when
a user asks: one placement (`hosting`) is looked at by many networks (`network`, `connected`, `cells`).
"""
