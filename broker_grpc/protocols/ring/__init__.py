"""Rings of brokers: Chord, Pastry and Tapestry behind one interface (`substrate`).

Stoica et al., "Chord" (2001); Rowstron and Druschel, "Pastry" (2001); Zhao et al., "Tapestry" (2004).
A ring is no protocol by itself: a broker that routes by keys holds one `Substrate` per plane.
"""
