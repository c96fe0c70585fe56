"""What measures are taken from: the events of runs, read once for whole sets of them."""
