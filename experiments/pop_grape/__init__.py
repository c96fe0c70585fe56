"""Cheung and Jacobsen: "Publisher Relocation Algorithms ..." (CSRG-597, 2009), section 5."""
