"""A protocol is one folder here, or in another package; nothing outside it names it (see registry)."""
