"""Jaeger, Parzyjegla, Muehl, Herrmann: "Self-Organizing Broker Topologies for Publish/Subscribe Systems"."""
