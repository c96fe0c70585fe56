"""The simulator: the same broker, client and timeline machines, driven by a discrete-event loop."""
