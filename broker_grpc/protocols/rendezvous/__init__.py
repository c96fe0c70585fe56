"""Topic trees on a ring of brokers: Scribe and Bayeux, and what other protocols build on them.

Castro, Druschel, Kermarrec and Rowstron, "Scribe" (2002); Zhuang, Zhao, Joseph, Katz and Kubiatowicz,
"Bayeux" (2001). A `Plane` is a ring and the trees on it; a broker holds one or several.
"""

BUILDS_ON = ("ring",)
