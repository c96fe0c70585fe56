"""The host engine: Mininet on this kernel."""
