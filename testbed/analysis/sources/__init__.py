"""What a run folder holds, as Spark DataFrames: captures, event logs, probes, counters."""
