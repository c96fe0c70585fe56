"""Exchange of overlay links."""
