"""Sockets, clocks and threads: the gRPC process around a broker machine."""
