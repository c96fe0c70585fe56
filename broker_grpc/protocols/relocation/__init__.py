"""Publisher relocation after Cheung and Jacobsen (CSRG-597, 2009): POP, GRAPE, and their migration.

Both are layers on the routing broker (see `contentbased.layer`) with the paper's three phases: trace
publications, select a broker, migrate the publisher. Phase 3 is shared.
"""

BUILDS_ON = ("contentbased",)  # protocols whose modules those here may import
