"""DYNATOPS (Zhao, Kim and Venkatasubramanian, DEBS 2013), reproduced."""
