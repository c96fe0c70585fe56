"""Running an experiment for real: the guest kernel, the network, the processes, capture and probes."""
