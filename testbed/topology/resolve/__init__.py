"""From a checked file to a plan: defaults filled in, generators run, names looked up, times laid out."""
