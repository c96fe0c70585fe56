"""Self-organising broker trees after Jaeger, Parzyjegla, Muehl and Herrmann (SAC 2007): CI, lMST and lMIT.

Layers on the routing broker (see `contentbased.layer`) with the paper's phases: broadcast what the own
clients saw, evaluate a direct link, seek a consensus on the link that goes. The exchange itself is the
routing broker's. `evaluation`, `consensus`, `heuristics` and `neighbourhood` decide, and know neither
messages nor time.
"""

BUILDS_ON = ("contentbased",)  # protocols whose modules those here may import
