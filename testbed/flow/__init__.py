"""Paper-size counting on the protocols' decision functions: messages are counted, not carried."""
