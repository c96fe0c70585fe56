"""What every engine shares: timeline, gates, faults, process configurations, the run folder."""
